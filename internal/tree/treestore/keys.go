package treestore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/mod/sumdb/note"

	"github.com/ledgerd/ledgerd/internal/tree"
)

const (
	keysDir   = "keys"
	keysName  = "keys.json"
	secretExt = ".key"

	dirMode  = 0o700
	fileMode = 0o600
	// othersMay are the permission bits that a secret must not have.
	othersMay = 0o077
)

// Errors of keys.
var (
	// ErrKeys: the directory of the keys cannot be used as it is.
	ErrKeys = errors.New("treestore: the keys cannot be used")
	// ErrNoKeys: a directory has no keys yet.
	ErrNoKeys = errors.New("treestore: no keys there")
)

// keysFile is keys.json. The last key is the one that signs.
type keysFile struct {
	Keys []keyEntry `json:"keys"`
}

type keyEntry struct {
	Verifier string    `json:"verifier_key"`
	Since    time.Time `json:"since"`
	Switch   string    `json:"switch_note"` // by which the key before it names this one
}

// KeysDir is where the keys of a data directory are.
func KeysDir(dataDir string) string { return filepath.Join(dataDir, keysDir) }

// OpenKeys reads the keys of a data directory with the secret of the one that
// signs, and makes the first one when there is none. Whoever calls it holds the
// directory. origin names the first key and must be that of the others. Errors:
// ErrKeys, tree.ErrKeyMalformed, tree.ErrUntrusted.
func OpenKeys(dataDir, origin string, now time.Time) (*tree.Keys, error) {
	if err := tree.CheckOrigin(origin); err != nil {
		return nil, err
	}
	if err := makeKeysDir(dataDir); err != nil {
		return nil, err
	}
	keys, err := ReadKeys(dataDir)
	if errors.Is(err, ErrNoKeys) {
		keys, err = firstKey(dataDir, origin, now)
	}
	if err != nil {
		return nil, err
	}
	if keys.Origin() != origin {
		return nil, errors.WithHint(errors.Wrapf(ErrKeys, "the keys are of %q, not of %q", keys.Origin(), origin),
			"a ledger keeps its origin, which every head and receipt names: start it with that one")
	}
	if keys.Signer, err = readSecret(dataDir, keys.Current()); err != nil {
		return nil, err
	}
	return keys, keys.Check()
}

// ReadKeys reads the public keys alone. Errors: ErrNoKeys, ErrKeys, those of
// tree.Keys.Check.
func ReadKeys(dataDir string) (*tree.Keys, error) {
	content, err := os.ReadFile(filepath.Join(KeysDir(dataDir), keysName))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, errors.WithHint(errors.Wrapf(ErrNoKeys, "%s", dataDir), "a daemon makes the first key when it starts there")
	case err != nil:
		return nil, unusable(err, "read the keys")
	}
	var file keysFile
	if err := json.Unmarshal(content, &file, json.RejectUnknownMembers(true)); err != nil {
		return nil, errors.WithHint(errors.Mark(errors.Wrap(err, "read "+keysName), ErrKeys), "bring the directory keys back from a backup")
	}
	keys := &tree.Keys{}
	for _, entry := range file.Keys {
		keys.All = append(keys.All, tree.Key{Verifier: entry.Verifier, Since: entry.Since, Switch: entry.Switch})
	}
	if err := keys.Check(); err != nil {
		return nil, errors.WithHint(errors.Mark(err, ErrKeys), "bring the directory keys back from a backup")
	}
	return keys, nil
}

// firstKey makes the key of a new ledger.
func firstKey(dataDir, origin string, now time.Time) (*tree.Keys, error) {
	// A secret without keys.json may be all that is left of a ledger's keys; a
	// crash below leaves one too, which nothing was signed with.
	secret, verifier, err := tree.GenerateKey(origin)
	if err != nil {
		return nil, err
	}
	keys := &tree.Keys{All: []tree.Key{{Verifier: verifier, Since: now.UTC().Truncate(time.Second)}}}
	return keys, putKey(dataDir, secret, keys)
}

// Rotate makes a new key that signs from now on. The old one's public half
// stays, so that what it signed verifies; its secret is removed. Whoever calls
// it holds the directory and runs no tree. Errors: those of OpenKeys.
func Rotate(dataDir string, now time.Time) (*tree.Keys, error) {
	public, err := ReadKeys(dataDir)
	if err != nil {
		return nil, err
	}
	keys, err := OpenKeys(dataDir, public.Origin(), now)
	if err != nil {
		return nil, err
	}
	secret, verifier, err := tree.GenerateKey(keys.Origin())
	if err != nil {
		return nil, err
	}
	next, err := note.NewSigner(secret)
	if err != nil {
		return nil, errors.Wrap(err, "treestore: use the new key")
	}
	key, err := tree.SignSwitch(keys.All[len(keys.All)-1], keys.Signer, verifier, next, now.Truncate(time.Second))
	if err != nil {
		return nil, err
	}
	keys.All, keys.Signer = append(keys.All, key), next
	if err := putKey(dataDir, secret, keys); err != nil {
		return nil, err
	}
	return keys, removeOldSecrets(dataDir, verifier)
}

// putKey stores a new key.
func putKey(dataDir, secret string, keys *tree.Keys) error {
	// A crash here leaves a secret that keys.json does not name: it has signed
	// nothing that anybody has seen, and the next switch removes it.
	if err := writeFile(secretFile(dataDir, keys.Current()), []byte(secret+"\n")); err != nil {
		return err
	}
	var file keysFile
	for _, key := range keys.All {
		file.Keys = append(file.Keys, keyEntry{key.Verifier, key.Since, key.Switch})
	}
	content, err := json.Marshal(file, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return errors.Wrap(err, "treestore: print the keys")
	}
	// From here on the new key signs.
	return writeFile(filepath.Join(KeysDir(dataDir), keysName), append(content, '\n'))
}

// secretFile is named after the key's hash, which is public.
func secretFile(dataDir, verifier string) string {
	fields := strings.SplitN(verifier, "+", 3)
	return filepath.Join(KeysDir(dataDir), fields[1]+secretExt)
}

// readSecret reads the secret of a verifier key. What is in the file is in no
// message.
func readSecret(dataDir, verifier string) (note.Signer, error) {
	path := secretFile(dataDir, verifier)
	if err := checkPrivate(path); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, unusable(err, "read the signing key")
	}
	signer, err := note.NewSigner(strings.TrimSuffix(string(content), "\n"))
	if err != nil {
		return nil, errors.WithHint(errors.Wrapf(ErrKeys, "%s holds no signing key", path), "bring the directory keys back from a backup")
	}
	return signer, nil
}

// removeOldSecrets leaves the secret of one key.
func removeOldSecrets(dataDir, verifier string) error {
	secrets, err := filepath.Glob(filepath.Join(KeysDir(dataDir), "*"+secretExt+"*")) // unfinished ones too
	if err != nil {
		return unusable(err, "look for old keys")
	}
	for _, path := range secrets {
		if path == secretFile(dataDir, verifier) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return unusable(err, "remove an old signing key")
		}
	}
	return syncDir(KeysDir(dataDir))
}

func makeKeysDir(dataDir string) error {
	err := os.Mkdir(KeysDir(dataDir), dirMode)
	switch {
	case err == nil:
		return syncDir(dataDir)
	case errors.Is(err, os.ErrExist):
		return checkPrivate(KeysDir(dataDir))
	}
	return unusable(err, "make the keys' directory")
}

// checkPrivate refuses a file or directory that others than its owner may read
// or change.
func checkPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return unusable(err, "look at the keys")
	}
	if mode := info.Mode().Perm(); mode&othersMay != 0 {
		return errors.WithHint(errors.Wrapf(ErrKeys, "%s has mode %04o", path, mode),
			fmt.Sprintf("chmod %04o %s; if others may have read a secret, make a new key with `ledgerd tree rotate-key`", mode&^othersMay, path))
	}
	return nil
}

func unusable(err error, doing string) error {
	return errors.WithHint(errors.Mark(errors.Wrap(err, "treestore: "+doing), ErrKeys),
		"the directory keys must be this user's own; if it is damaged, bring it back from a backup")
}
