//go:build unix

package pgtest

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"

	"github.com/cockroachdb/errors"
)

// account is who the server runs as.
type account struct {
	uid, gid int
	other    bool // not who runs the test
}

// unprivileged gives an account that Postgres agrees to run as: it refuses
// root.
func unprivileged() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		known, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.Atoi(known.Uid)
		gid, errGID := strconv.Atoi(known.Gid)
		if err := errors.CombineErrors(errUID, errGID); err != nil {
			return account{}, errors.Wrapf(err, "pgtest: account %s", name)
		}
		return account{uid: uid, gid: gid, other: true}, nil
	}
	return account{}, errors.New("pgtest: postgres does not run as root, and there is neither a user postgres nor nobody")
}

// runAs makes the command run under the account.
func (a account) runAs(command *exec.Cmd) {
	if !a.other {
		return
	}
	command.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}, //nolint:gosec // ids of the system's own accounts
	}
}

// own gives the account a directory.
func (a account) own(directory string) error {
	if !a.other {
		return nil
	}
	return errors.Wrap(os.Chown(directory, a.uid, a.gid), "pgtest: give the directory away")
}
