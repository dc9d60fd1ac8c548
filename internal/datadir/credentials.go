package datadir

import (
	"os"
	"path/filepath"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nkeys"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

const (
	credentialsName = "credentials"
	credentialExt   = ".nk"

	// othersMay are the permission bits that a credential must not have.
	othersMay = 0o077
	// othersMayChange are those that a mounted secret must not have either:
	// orchestrators mount secrets with 0440 or 0444.
	othersMayChange = 0o033
)

// CredentialFile is where the seed of operator, coordinator or reader is kept.
func CredentialFile(dir string, role natsdeploy.Role) string {
	return filepath.Join(dir, credentialName(role))
}

// credentialName is the same, inside the directory.
func credentialName(role natsdeploy.Role) string {
	return filepath.Join(credentialsName, string(role)+credentialExt)
}

// ensureCredentials makes the seeds that are missing and checks the others.
// Removing a file and starting again makes a new key: the old one is then no
// longer admitted.
func ensureCredentials(dir string) error {
	if err := makeCredentialsDir(filepath.Join(dir, credentialsName)); err != nil {
		return err
	}
	for _, role := range natsdeploy.Outside() {
		file := CredentialFile(dir, role)
		if _, err := publicKey(file); !errors.Is(err, os.ErrNotExist) {
			if err != nil {
				return err
			}
			continue
		}
		if err := writeSeed(file); err != nil {
			return err
		}
	}
	return nil
}

func makeCredentialsDir(dir string) error {
	if err := os.Mkdir(dir, dirMode); err == nil {
		return syncDir(filepath.Dir(dir))
	} else if !errors.Is(err, os.ErrExist) {
		return unusable(err, "make the credentials' directory")
	}
	return CheckPrivate(dir)
}

func writeSeed(file string) error {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return errors.Wrap(err, "make a key")
	}
	defer pair.Wipe()
	seed, err := pair.Seed()
	if err != nil {
		return errors.Wrap(err, "make a key")
	}
	return writeFile(file, append(seed, '\n'))
}

// publicKey reads a seed file and gives its public key.
func publicKey(file string) (string, error) {
	if err := CheckPrivate(file); err != nil {
		return "", err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", unusable(err, "read "+filepath.Base(file))
	}
	pair, err := nkeys.ParseDecoratedUserNKey(content)
	if err != nil {
		// The reason is not repeated: it could hold a piece of the seed.
		return "", errors.WithHint(errors.Wrapf(ErrDamaged, "%s holds no user's nkey seed", file),
			"Remove the file and start ledgerd again: it makes a new key. Those who use the old one need the new file.")
	}
	defer pair.Wipe()
	return pair.PublicKey()
}

// CheckPrivate gives ErrExposed when others than its owner may read or change
// the file or directory.
func CheckPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return errors.Wrap(errors.Mark(err, ErrUnusable), "look at a credential")
	}
	if mode := info.Mode().Perm(); mode&othersMay != 0 {
		private := mode &^ othersMay
		return errors.WithHintf(errors.Wrapf(ErrExposed, "%s has mode %04o", path, mode),
			"chmod %04o %s — and, if others may have read it, remove the file and start ledgerd again for a new key.", private, path)
	}
	return nil
}

// CheckMounted looks at a secret that somebody else made, as an orchestrator
// mounts them. readable tells that others than its owner may read it, which
// deserves a warning; ErrExposed that they may change it.
func CheckMounted(path string) (readable bool, err error) {
	err = CheckPrivate(path)
	if !errors.Is(err, ErrExposed) {
		return false, err
	}
	info, statErr := os.Stat(path)
	if statErr != nil || info.Mode().Perm()&othersMayChange != 0 {
		return false, err
	}
	return true, nil
}
