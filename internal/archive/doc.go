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
// Failure: every refusal is an error with a sentinel of its own (ErrArchive…),
// a sentence that names the entry, and a hint. One bad execution refuses the
// whole archive, so that nobody has to ask which half was published. Sizes
// are counted while reading; what a header claims is only ever a reason to
// refuse sooner.
package archive
