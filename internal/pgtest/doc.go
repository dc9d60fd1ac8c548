// Package pgtest starts a private Postgres for tests, from the binaries of the
// machine.
//
// Model: a [Server] is one postgres process with its files in a temporary
// directory and a Unix socket as its only door. Databases in it are made per
// test. Authority: none beyond its directory. Failure: a machine without
// Postgres fails the test and says where binaries are looked for.
package pgtest
