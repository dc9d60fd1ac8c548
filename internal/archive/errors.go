package archive

import "github.com/cockroachdb/errors"

// Errors. Each comes with a hint that says what to do.
var (
	// ErrArchiveOptions: a pattern or the path prefix cannot be used.
	ErrArchiveOptions = errors.New("archive: options cannot be used")
	// ErrArchiveUnreadable: the operating system refused to read the file.
	ErrArchiveUnreadable = errors.New("archive: cannot be read")
	// ErrArchiveChanged: the file is not what it was when reading began.
	ErrArchiveChanged = errors.New("archive: changed while it was read")

	// ErrArchiveNotZip: it is no zip file.
	ErrArchiveNotZip = errors.New("archive: not a zip file")
	// ErrArchiveEmpty: there is no byte, or no file, in it.
	ErrArchiveEmpty = errors.New("archive: empty")
	// ErrArchiveTruncated: its end is missing.
	ErrArchiveTruncated = errors.New("archive: truncated")
	// ErrArchiveGarbage: it has bytes that belong to no entry.
	ErrArchiveGarbage = errors.New("archive: bytes that belong to no entry")
	// ErrArchiveDamaged: what it says of itself does not hold, checksums included.
	ErrArchiveDamaged = errors.New("archive: damaged")
	// ErrArchiveOverlap: two entries share bytes.
	ErrArchiveOverlap = errors.New("archive: entries overlap")
	// ErrArchiveZip64: it uses the zip64 extension.
	ErrArchiveZip64 = errors.New("archive: zip64")
	// ErrArchiveEncrypted: an entry is encrypted.
	ErrArchiveEncrypted = errors.New("archive: encrypted")
	// ErrArchiveUnsupported: it uses another feature that is not read here.
	ErrArchiveUnsupported = errors.New("archive: unsupported feature")

	// ErrArchiveName: an entry's name is no plain relative path.
	ErrArchiveName = errors.New("archive: unsafe name")
	// ErrArchiveDuplicate: two entries have one name, or would on some system.
	ErrArchiveDuplicate = errors.New("archive: name comes twice")
	// ErrArchiveSpecial: an entry is a link, a device or the like.
	ErrArchiveSpecial = errors.New("archive: neither a file nor a directory")

	// ErrArchiveTooLarge: it goes beyond a limit on sizes or counts.
	ErrArchiveTooLarge = errors.New("archive: too large")
	// ErrArchiveBomb: an entry grows beyond reason when it is unpacked.
	ErrArchiveBomb = errors.New("archive: decompression bomb")

	// ErrArchiveNoResult: no file is a result document.
	ErrArchiveNoResult = errors.New("archive: no result document")
	// ErrArchiveDocuments: an execution lacks a document, or there are two for one.
	ErrArchiveDocuments = errors.New("archive: an execution needs one of each document")
	// ErrArchiveDocument: a document is not a strict JSON object, or a result names no execution.
	ErrArchiveDocument = errors.New("archive: a document cannot be used")
)

// Hints that several refusals share.
const (
	hintDownload = "download the artifact again and compare its digest; a partial or changed copy is never read"
	hintRepack   = "pack the files again with a plain zip tool (store or deflate, no encryption, no zip64)"
	hintSeparate = "upload documents and logs as separate artifacts"
	hintForged   = "no ordinary tool writes this; look at who made the archive before packing it anew"
)

// refuse makes an error of a sentinel, with what was found and a hint.
func refuse(sentinel error, hint, format string, args ...any) error {
	return errors.WithHint(errors.Wrapf(sentinel, format, args...), hint)
}

// changed refuses a file that is not what it was when reading began.
func changed(format string, args ...any) error {
	return refuse(ErrArchiveChanged, "wait until the download is complete, then read it again", format, args...)
}

// maxExcerptBytes is how much of a hostile name a sentence repeats.
const maxExcerptBytes = 128

func excerpt(name string) string { return name[:min(len(name), maxExcerptBytes)] }

// errNotObject is what is wrong with a document that is other JSON.
var errNotObject = errors.New("it is JSON, but no object")
