// Package archive reads what a CI job left behind: one zip file with the
// result, host and definition documents of the executions that the job
// measured.
//
// Model: an archive is hashed whole, every entry is read and checked, and the
// documents are found by the policy's patterns. What comes out is the bytes
// that will be published, and their digests; nothing is unpacked to disk and
// an archive within an archive is only bytes.
//
// Authority: none. Names and contents are whatever the producer wrote, so that
// a file is refused as soon as two readers could take it for two different
// archives: a zip says most things twice, and here both must agree.
//
// archive/zip reads the list of entries and the entries; an entry that unpacks
// to another size than it claims is refused there. What it does not check is
// checked here, and TestWhatArchiveZipReads shows each case: it believes the
// list and does not read the header before an entry's data, nor the sizes
// behind them; it compares no checksum that is 0; it looks neither for bytes
// that no entry owns (before, between and behind entries, within compressed
// data, in directories) nor for bytes that two own; it takes the last of two
// ends; it counts entries modulo 65,536 and bounds nothing before it reads.
//
// Failure: every refusal is an error with a sentinel of its own (ErrArchive…),
// a sentence that names the entry, and a hint. One bad execution refuses the
// whole archive, so that nobody has to ask which half was published. Limits
// hold what an entry claims, before it is unpacked.
package archive
