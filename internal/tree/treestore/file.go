package treestore

import (
	"os"
	"path/filepath"

	"github.com/cockroachdb/errors"
)

// temporarySuffix marks a file that is not finished. It is written over the
// next time.
const temporarySuffix = ".unfinished"

// writeFile puts content at path, whole or not at all, for its owner alone.
// After it returns the file survives a power failure.
func writeFile(path string, content []byte) error {
	temporary := path + temporarySuffix
	if err := os.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) {
		return unusable(err, "write "+filepath.Base(path))
	}
	// O_EXCL: the mode is the new file's own.
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return unusable(err, "write "+filepath.Base(path))
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.CombineErrors(err, file.Close()); err != nil {
		return unusable(errors.CombineErrors(err, os.Remove(temporary)), "write "+filepath.Base(path))
	}
	// A crash before the rename leaves the old file, or none.
	if err := os.Rename(temporary, path); err != nil {
		return unusable(errors.CombineErrors(err, os.Remove(temporary)), "write "+filepath.Base(path))
	}
	// Until the directory is synced a power failure may bring the old one back.
	return syncDir(filepath.Dir(path))
}

// syncDir makes names in dir survive a power failure.
func syncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return unusable(err, "sync the directory")
	}
	err = file.Sync()
	if err := errors.CombineErrors(err, file.Close()); err != nil {
		return unusable(err, "sync the directory")
	}
	return nil
}
