package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"github.com/cockroachdb/errors"
)

// Archive is what a CI artifact holds.
type Archive struct {
	SHA256     string // lower hex, over the whole file
	Bytes      int64  // the file's size
	Executions []Execution
}

// Execution is one measured execution: its three documents. Several executions
// may share a host or definition document.
type Execution struct {
	ExecutionID string // the result's executionId; "" only with Options.AnyContent
	Result      Document
	Host        Document
	Definition  Document
}

// Document is a file of the archive.
type Document struct {
	Path   string // with the path prefix
	Raw    []byte // as it was measured; shared, not to be changed
	SHA256 string // lower hex, over Raw
}

// Open reads the archive in a file. Executions come in the order of their
// results' paths. Errors: ErrArchive… of this package, and the context's.
func Open(ctx context.Context, name string, options Options) (*Archive, error) {
	file, size, err := openRegular(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() // it was only read
	archive, err := Read(ctx, file, size, options)
	return archive, errors.Wrapf(err, "%s", name)
}

func openRegular(name string) (*os.File, int64, error) {
	// Asked before opening too: to open a pipe would wait for its other end.
	before, err := os.Stat(name)
	if err != nil {
		return nil, 0, unreadable(err)
	}
	if !before.Mode().IsRegular() {
		return nil, 0, refuse(ErrArchiveUnreadable, "save the artifact to a file first", "%s is no regular file", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, unreadable(err)
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(before, info) {
		err = errors.Newf("%s was replaced", name)
	}
	if err != nil {
		file.Close()
		return nil, 0, unreadable(err)
	}
	return file, info.Size(), nil
}

// Read reads the archive in the first size bytes of r, like [Open].
func Read(ctx context.Context, r io.ReaderAt, size int64, options Options) (*Archive, error) {
	o, err := options.prepare()
	if err != nil {
		return nil, err
	}
	if size > o.limits.ArchiveBytes {
		return nil, refuse(ErrArchiveTooLarge, hintSeparate, "the file is %d bytes and may be %d", size, o.limits.ArchiveBytes)
	}
	from := &source{ctx: ctx, r: r}
	digest, err := hash(from, size)
	if err != nil {
		return nil, err
	}
	archive := &Archive{SHA256: digest, Bytes: size}
	if archive.Executions, err = readExecutions(from, size, o); err != nil {
		return nil, err
	}
	// The documents were read between two equal digests, so they are what the
	// digest stands for even when somebody else writes to the file.
	again, err := hash(from, size)
	if err != nil {
		return nil, err
	}
	if again != digest {
		return nil, changed("its digest was %s and is %s", digest, again)
	}
	return archive, nil
}

func readExecutions(r io.ReaderAt, size int64, o *prepared) ([]Execution, error) {
	d, err := readDirectory(r, size, o)
	if err != nil {
		return nil, err
	}
	if err := d.locate(r); err != nil {
		return nil, err
	}
	found, err := findExecutions(d.entries, o)
	if err != nil {
		return nil, err
	}
	documents, err := readEntries(d.entries, wanted(found), o.limits)
	if err != nil {
		return nil, err
	}
	return found.executions(documents, o.any)
}

func hash(r io.ReaderAt, size int64) (string, error) {
	digest := sha256.New()
	n, err := io.Copy(digest, io.NewSectionReader(r, 0, size))
	if err != nil {
		return "", err
	}
	if n != size {
		return "", changed("it had %d bytes and ends after %d", size, n)
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

// source is the file that is read. It ends with its context, and its errors
// are told from an archive's damage.
type source struct {
	ctx context.Context
	r   io.ReaderAt
}

func (s *source) ReadAt(p []byte, offset int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.ReadAt(p, offset)
	if err != nil && err != io.EOF { // as io.ReaderAt has it, unwrapped
		err = unreadable(err)
	}
	return n, err
}

// unreadable marks an error of the operating system. The context's own errors
// stay what they are.
func unreadable(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return errors.WithHint(errors.Mark(errors.Wrap(err, "archive: read"), ErrArchiveUnreadable),
		"check that the file exists, that you may read it, and that its disk is well")
}

// readFull reads len(p) bytes at an offset that the caller has checked.
func readFull(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	switch {
	case n == len(p):
		return nil
	case errors.Is(err, io.EOF):
		return changed("it ends before byte %d", offset+int64(len(p)))
	default:
		return err
	}
}
