// Package treestore keeps the ledger's Merkle tree on the local disk: hashes
// and signed heads in one SQLite file, the keys in files of their own.
//
// Model: tables state, tiles and heads (migrations/), and below another
// directory
//
//	keys/keys.json     every public key that ever signed, oldest first
//	keys/<hash>.key    the secret of the one that signs; its owner's alone
//
// Authority: one transaction moves the tiles and the state, guarded by a
// comparison. Every commit is synced before it returns: a head that somebody
// has seen must not be forgotten. Of the keys, keys.json says which one signs.
//
// Failure: a crash leaves the database as it was before or after a
// transaction, and the keys as they were before or after a switch: files are
// written whole or not at all.
package treestore
