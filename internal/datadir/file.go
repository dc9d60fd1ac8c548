package datadir

import (
	"os"
	"path/filepath"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// temporarySuffix marks a file that is not finished. The next holder removes
// it.
const temporarySuffix = ".unfinished"

// writeFile puts content at path, whole or not at all, readable by its owner
// alone. After it returns the file survives a power failure.
func writeFile(path string, content []byte) (err error) {
	temporary := path + temporarySuffix
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return unusable(err, "write "+filepath.Base(path))
	}
	if err := writeThrough(file, content); err != nil {
		return errors.CombineErrors(unusable(err, "write "+filepath.Base(path)), removeFile(temporary))
	}
	// A crash before the rename leaves the old file, or none, and a temporary
	// one that the next holder removes.
	if err := os.Rename(temporary, path); err != nil {
		return errors.CombineErrors(unusable(err, "write "+filepath.Base(path)), removeFile(temporary))
	}
	// Until the directory is synced a power failure may bring the old file back.
	return syncDir(filepath.Dir(path))
}

// writeThrough writes, syncs and closes.
func writeThrough(file *os.File, content []byte) error {
	_, err := file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	return errors.CombineErrors(err, file.Close())
}

func writeJSON(path string, value any) error {
	content, err := json.Marshal(value, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return errors.Wrapf(err, "encode %s", filepath.Base(path))
	}
	return writeFile(path, append(content, '\n'))
}

// readJSON reads strictly: unknown names are refused, so that a mistake made
// by hand is seen. A missing file is os.ErrNotExist.
func readJSON(path string, value any) error {
	return decodeFile(path, value, json.RejectUnknownMembers(true))
}

// decodeFile reads a file that holds one JSON value.
func decodeFile(path string, value any, options ...json.Options) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return errors.Wrapf(err, "read %s", filepath.Base(path))
	}
	err = json.Unmarshal(content, value, options...)
	return errors.Wrapf(errors.Mark(err, ErrDamaged), "read %s", filepath.Base(path))
}

// removeFile removes path if it is there.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return unusable(err, "remove "+filepath.Base(path))
	}
	return nil
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
