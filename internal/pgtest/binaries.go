package pgtest

import (
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/errors"
)

// ErrNoPostgres: the machine has no Postgres to start.
var ErrNoPostgres = errors.New("pgtest: no postgres on this machine")

// packaged is where distributions put the server's own programs, which are
// often not in PATH.
const packaged = "/usr/lib/postgresql/*/bin"

// binary finds one of the server's programs: in PATH, else the newest that a
// distribution packaged.
func binary(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, err := filepath.Glob(filepath.Join(packaged, name))
	if err != nil || len(found) == 0 {
		return "", errors.WithHintf(errors.Wrapf(ErrNoPostgres, "%s", name), "install PostgreSQL, or put initdb and postgres in PATH; %s is looked at too", packaged)
	}
	return slices.Max(found), nil
}
