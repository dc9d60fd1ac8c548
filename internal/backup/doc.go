// Package backup copies a ledger into a directory, and brings it back.
//
// Model: a backup is a directory of files, each named with its hash:
//
//	SHA256SUMS               of every other file; sha256sum -c SHA256SUMS checks them
//	manifest.json            what it is a backup of, counts, root, signed head
//	ARRIVALS/backup.json     how the stream was made, and how far it goes
//	ARRIVALS/stream.arc.s2   its messages, in the form of the server's own snapshots
//	LEDGER/…                 likewise
//
// Messages keep their sequences and times: records repeat them. A stream's
// directory is what the nats command's `stream restore` reads, from server 2.15
// on. Keys are kept apart, in a directory of their own ([WriteKeys]): a backup
// may be handed to whoever wants to check it. Views are not backed up, they
// follow from the ledger.
//
// A backup is made of what any reader of the ledger may read, so that it needs
// no right that changes anything, beside a daemon or without one. The end of
// LEDGER is fixed before that of ARRIVALS: arrivals that were not decided yet
// are decided when the backup is brought back, and in the same way.
//
// Authority: a backup counts when its manifest is there, its hashes agree and
// its ledger is sound; both are checked on writing, from the files that were
// written, and before anything is restored.
//
// Failure: everything is made under another name, synced, and renamed at the
// end; what a crash leaves has never counted. A target that holds these streams,
// or remembers more of the ledger than the backup has, is refused: signed heads
// and views cannot be taken back.
package backup
