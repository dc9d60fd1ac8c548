package backup

import (
	"os"
	"path/filepath"

	"github.com/cockroachdb/errors"
)

// WriteKeys copies secret files, relative to a data directory, into a directory
// of their own, with their hashes. The directory must not exist or be empty; it
// and all in it is its owner's alone. Error: ErrTaken.
func WriteKeys(dir, dataDir string, files []string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return errors.Wrap(err, "find the directory")
	}
	if err := CheckPlace(dir); err != nil {
		return err
	}
	unfinished := dir + unfinishedSuffix
	if err := os.RemoveAll(unfinished); err != nil { // a crash left it
		return errors.Wrap(err, "remove unfinished keys")
	}
	err = copyKeys(unfinished, dataDir, files)
	if err == nil {
		err = putInPlace(unfinished, dir)
	}
	if err != nil {
		return errors.CombineErrors(err, os.RemoveAll(unfinished))
	}
	return nil
}

func copyKeys(to, from string, files []string) error {
	if err := os.MkdirAll(to, dirMode); err != nil {
		return errors.Wrap(err, "make the keys' directory")
	}
	hashes := sums{}
	for _, name := range files {
		sum, err := copyFile(filepath.Join(to, name), filepath.Join(from, name))
		if err != nil {
			return err
		}
		hashes[filepath.ToSlash(name)] = sum
	}
	_, err := writeWhole(filepath.Join(to, sumsName), hashes.print())
	return err
}

func copyFile(to, from string) (string, error) {
	content, err := os.ReadFile(from)
	if err != nil {
		return "", errors.Wrap(err, "read a key")
	}
	return writeWhole(to, content)
}

// restoreKeys copies what WriteKeys wrote into a data directory. Error:
// ErrDamaged.
func restoreKeys(dir, dataDir string) error {
	hashes, err := readSums(dir)
	if err != nil {
		return errors.WithHint(errors.Mark(err, ErrDamaged), "give --keys the directory that `ledgerd backup` wrote keys to, or --no-keys for new ones")
	}
	changed, err := hashes.check(dir)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return errors.WithHint(errors.Wrapf(ErrDamaged, "%s: %s", filepath.Join(dir, changed[0].name), changed[0].detail),
			"bring that file back from another copy; --no-keys makes new keys, which receipts that were given out do not verify by")
	}
	for name := range hashes {
		name = filepath.FromSlash(name)
		if _, err := copyFile(filepath.Join(dataDir, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
