// Package tree makes the ledger's promises checkable by strangers: a
// Merkle tree over the decision records, signed heads of it, proofs, and
// receipts that need nothing but a public key.
//
//	LEDGER ─ read ─▶ hash ×n ─▶ chain, edge ─▶ Store.Append ─▶ sign ─▶ heads
//	                 (parallel)  (in order)    (tiles, root,    (at most one
//	                                            position)        an interval)
//
// Model: the tree is RFC 6962's. Leaf i is the record with index i, which is
// the data of LEDGER sequence i+1. Hashes are kept as C2SP tlog-tiles of
// [TileWidth] hashes; a tile that is not full yet is stored as far as it goes.
// A [Head] is a C2SP tlog-checkpoint: origin, size and root in a signed note.
// The origin is [Origin] of the ledger's id, or what the operator chose when
// the first key was made; the key is named like it. It is what tells one
// ledger's heads from another's, so that it stays for good.
//
// Authority: the ledger. Tiles, the root and the position move in one
// transaction, guarded by compare-and-swap. A head is durable before anybody
// sees it, and no head is signed that does not continue the last one: what was
// signed is the memory that a ledger is held against that lost its end or was
// rewritten ([Tree.Remembered], [ErrRewritten]).
//
// Daemons that stand by for each other keep a tree each. Copy the keys' directory
// to all of them, or strangers must trust a key for each.
//
// Failure: stored hashes that do not give the stored root, or the signed one,
// are damage ([ErrTreeDamaged]): nothing is signed over them, and every proof
// is checked before it leaves. A stream or database that is away is tried again.
package tree
