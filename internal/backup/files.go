package backup

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/errors"
)

const (
	dirMode  = 0o700
	fileMode = 0o600

	// unfinishedSuffix marks a directory that does not count yet.
	unfinishedSuffix = ".unfinished"
	// restoringSuffix does inside a data directory, whose owner drops
	// unfinished files by their names.
	restoringSuffix = ".restoring"

	sumsName = "SHA256SUMS"
)

// file is one that is being written, with the hash of what was written.
type file struct {
	*bufio.Writer
	file *os.File
	sum  hash.Hash
}

const fileBufferBytes = 1 << 20

func create(path string) (*file, error) {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, errors.Wrap(err, "make a directory")
	}
	opened, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return nil, errors.Wrap(err, "make a file")
	}
	f := &file{file: opened, sum: sha256.New()}
	f.Writer = bufio.NewWriterSize(io.MultiWriter(opened, f.sum), fileBufferBytes)
	return f, nil
}

// finish makes the file survive a power failure and gives its hash.
func (f *file) finish() (string, error) {
	err := f.Flush()
	if err == nil {
		err = f.file.Sync()
	}
	err = errors.CombineErrors(err, f.file.Close())
	return hex.EncodeToString(f.sum.Sum(nil)), errors.Wrapf(err, "write %s", f.file.Name())
}

// writeWhole writes a small file and gives its hash.
func writeWhole(path string, content []byte) (string, error) {
	f, err := create(path)
	if err != nil {
		return "", err
	}
	_, _ = f.Write(content) // finish gives the error
	return f.finish()
}

// syncDirs makes the names in a directory and in all below it survive a power
// failure.
func syncDirs(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return syncDir(path)
	})
}

func syncDir(dir string) error {
	opened, err := os.Open(dir)
	if err != nil {
		return errors.Wrap(err, "sync a directory")
	}
	err = opened.Sync()
	return errors.Wrap(errors.CombineErrors(err, opened.Close()), "sync a directory")
}

// putInPlace gives a finished directory its name. Where an empty directory has
// it, it takes its place.
func putInPlace(unfinished, path string) error {
	if err := syncDirs(unfinished); err != nil {
		return err
	}
	// A crash before this line leaves a directory that does not count.
	if err := os.Rename(unfinished, path); err != nil {
		return errors.Wrap(err, "put the directory in its place")
	}
	return syncDir(filepath.Dir(path))
}

// CheckPlace refuses a place that is taken. Error: ErrTaken.
func CheckPlace(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return errors.Wrap(err, "look at the place")
	case len(entries) > 0:
		return errors.WithHint(errors.Wrapf(ErrTaken, "%s", path), "give a directory that does not exist, or is empty; nothing is ever written over")
	}
	return nil
}

// sums are hashes by file, relative with slashes.
type sums map[string]string

// print is what sha256sum prints, by name.
func (s sums) print() []byte {
	var out bytes.Buffer
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&out, "%s  %s\n", s[name], name)
	}
	return out.Bytes()
}

// readSums reads a SHA256SUMS strictly: what was read must print the same.
func readSums(dir string) (sums, error) {
	raw, err := os.ReadFile(filepath.Join(dir, sumsName))
	if err != nil {
		return nil, errors.Wrap(err, "read the hashes")
	}
	s := sums{}
	for line := range strings.Lines(string(raw)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if decoded, err := hex.DecodeString(sum); err != nil || len(decoded) != sha256.Size || !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, errors.Newf("%s: %.100q is no line of hashes", sumsName, line)
		}
		s[name] = sum
	}
	if !bytes.Equal(s.print(), raw) {
		return nil, errors.Newf("%s is not written as a backup writes it", sumsName)
	}
	return s, nil
}

// wrong is a file that is not what its hash says.
type wrong struct{ name, detail string }

// check hashes every file of the directory again.
func (s sums) check(dir string) ([]wrong, error) {
	var found []wrong
	for name, want := range s {
		sum, err := hashFile(filepath.Join(dir, filepath.FromSlash(name)))
		switch {
		case errors.Is(err, os.ErrNotExist):
			found = append(found, wrong{name, "it is gone"})
		case err != nil:
			return nil, err
		case sum != want:
			found = append(found, wrong{name, fmt.Sprintf("it has SHA-256 %s, and %s names %s: it was changed or cut off", sum, sumsName, want)})
		}
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		name := filepath.ToSlash(relative)
		if _, known := s[name]; !known && name != sumsName {
			found = append(found, wrong{name, sumsName + " does not name it"})
		}
		return err
	})
	slices.SortFunc(found, func(a, b wrong) int { return strings.Compare(a.name, b.name) })
	return found, errors.Wrap(err, "look through the directory")
}

func hashFile(path string) (string, error) {
	opened, err := os.Open(path)
	if err != nil {
		return "", errors.Wrap(err, "hash a file")
	}
	defer opened.Close() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, opened); err != nil {
		return "", errors.Wrapf(err, "hash %s", path)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
