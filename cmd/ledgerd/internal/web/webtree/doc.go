// Package tree serves the ledger's Merkle tree over HTTP: C2SP tlog-tiles for
// those who read a log as logs are read, and proofs and receipts as JSON for
// everybody else.
//
//	/checkpoint                    the last signed head, text/plain
//	/tile/<L>/<N>[.p/<W>]          hashes
//	/tile/entries/<N>[.p/<W>]      records, each behind its length (uint16)
//	/v1/tree/head, /v1/tree/keys
//	/v1/proofs/inclusion, /v1/proofs/consistency
//	/v1/receipts, /v1/records/{index}
//
// Model: everything is answered within the last signed head. What is below it
// never changes, so that tiles may be cached for good; the checkpoint may not.
// A record of more than 65,535 bytes fits in no entry bundle: a bundle that
// would hold one is 404 with a problem that names it, and the record itself is
// at /v1/records. Only the opening of a large campaign is one.
//
// Failure: what the tree cannot prove it does not say. Damage is 500 and in
// the log; a database or stream that is away is 503.
package webtree
