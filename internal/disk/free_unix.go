//go:build linux || darwin

package disk

import (
	"github.com/cockroachdb/errors"
	"golang.org/x/sys/unix"
)

// Free gives the bytes that an unprivileged process may still write to the
// file system that holds dir, which must exist.
func Free(dir string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, errors.Wrapf(err, "ask for free space at %s", dir)
	}
	return int64(stat.Bavail) * int64(stat.Bsize), nil
}
