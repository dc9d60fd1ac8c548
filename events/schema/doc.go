// Package schema publishes a JSON Schema (draft 2020-12) for the body of every
// kind of arrival and for the decision record, so that a producer or reader in
// any language can check what it writes or reads.
//
// Model: one file for each ce-type, complete in itself. A schema of an arrival
// describes what is worth publishing, and so stands between two judges:
// [events.DecodeArrival], which says what can be read, and the rules in domain,
// which say what counts.
//
//   - What the decoder calls malformed, the schema refuses too.
//   - What the schema refuses never counts: the ledger does not accept it. Where
//     the decoder reads it all the same, it is left to the rules on purpose, so
//     that the refusal names the gate and what was measured stays on record:
//     the provenance and each document's path and sha256 of a cell, what a
//     qualification says, a campaign's limits, and a checkpoint's ids.
//   - What no schema can say is the ledger's alone: strict JSON (no name twice,
//     no lone surrogate, valid UTF-8), the size of the body, values that depend
//     on each other or on the campaign, and lengths, which are bytes there and
//     characters here. Numbers are doubles there.
//
// Authority: none. The tests hold the files to the decoder and to the rules:
// examples of each class are in testdata, and every member of every valid
// example is taken out, doubled and given every other type.
//
// Failure: there is none; the files are embedded.
package schema
