package datadir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nkeys"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/datadir"
)

// TestExposedCredentials: each bit that opens a seed, or its directory, to
// others keeps the ledger closed, and the hint closes it.
func TestExposedCredentials(t *testing.T) {
	dir := t.TempDir()
	closeDir(t, open(t, dir))
	for _, path := range []string{datadir.CredentialFile(dir, natsdeploy.Operator), filepath.Join(dir, "credentials")} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		private := info.Mode().Perm()
		for bit := os.FileMode(1); bit <= 0o040; bit <<= 1 {
			chmod(t, path, private|bit)
			_, err := datadir.Open(dir)
			if !errors.Is(err, datadir.ErrExposed) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s with mode %04o: %v", path, private|bit, err)
			}
			if hint := strings.Join(errors.GetAllHints(err), "\n"); !strings.Contains(hint, "chmod 0") || !strings.Contains(hint, path) {
				t.Errorf("%s with mode %04o: hint %q", path, private|bit, hint)
			}
		}
		chmod(t, path, private)
	}
	closeDir(t, open(t, dir)) // the refusals let go of the lock
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// TestLostCredential: a removed seed is made anew; the others stay.
func TestLostCredential(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	before := publicKeys(t, d)
	closeDir(t, d)
	if err := os.Remove(datadir.CredentialFile(dir, natsdeploy.Operator)); err != nil {
		t.Fatal(err)
	}
	d = open(t, dir)
	after := publicKeys(t, d)
	if after[0] == before[0] || after[1] != before[1] || after[2] != before[2] {
		t.Errorf("before %v, after %v", before, after)
	}
	closeDir(t, d)
}

// TestDamagedCredential: what is no user's seed is refused, and its text is
// not repeated.
func TestDamagedCredential(t *testing.T) {
	dir := t.TempDir()
	closeDir(t, open(t, dir))
	file := datadir.CredentialFile(dir, natsdeploy.Coordinator)
	account, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := account.Seed()
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", "SUSECRETSECRET", string(seed)} {
		write(t, file, content)
		_, err := datadir.Open(dir)
		if !errors.Is(err, datadir.ErrDamaged) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", content, err)
		}
		if content != "" && strings.Contains(err.Error(), content) {
			t.Errorf("the seed is in the message: %v", err)
		}
	}
}

func TestCheckPrivateOfNothing(t *testing.T) {
	err := datadir.CheckPrivate(filepath.Join(t.TempDir(), "absent"))
	if !errors.Is(err, datadir.ErrUnusable) || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
