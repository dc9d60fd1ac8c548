// Package storefile reads the streams that a stopped NATS server left on disk,
// without starting one.
//
// Model: a stream is a directory (the file store of nats-server, from 2.10 on):
//
//	meta.inf         the stream's configuration, JSON
//	meta.sum         its keyed hash
//	msgs/<n>.blk     messages, in the order of their sequences, over all blocks
//	msgs/index.db    what the server knew of the blocks when it stopped
//
// and a block is a row of records:
//
//	length(4) sequence(8) time(8) subject length(2) subject [header length(4) header] body hash(8)
//
// Integers are little-endian; the highest bit of the length says that there is
// a header; the hash is HighwayHash-64 over sequence, time, subject, header and
// body, keyed by the stream's and the block's name.
//
// Authority: none; files are only read. A server that starts on damaged files
// cuts them back to what it can use and says so in its log alone, so that
// whoever looks for damage must look before. Whoever reads holds the data
// directory's lock, so that no server starts meanwhile.
//
// Failure: what cannot be read is a finding with its file and place, and
// reading goes on behind it. The hash does not cover the three lengths. A
// length that was changed so that the hash still holds moves bytes from one
// field to the next, and shows in the record or its arrival. index.db may be
// missing or old after a crash, since it is only a summary; what it knows of
// and the blocks lack is damage.
package storefile
