// Package simci is a simulated CI: campaigns of any size, the artifacts that
// parallel jobs leave behind, what goes wrong with them on the way, and what
// the ledger must answer to all of it.
//
//	Config ─▶ New ─▶ CI ─┬─ WriteArtifacts ─▶ zip + provenance, a pair a job
//	                     ├─ Arrivals        ─▶ the same cells, made in memory
//	                     ├─ ArrivalsFrom    ─▶ read back from the written pairs
//	                     └─ Expected        ─▶ verdicts, counts, spend, checkpoints
//
// Model: a campaign has slots; each slot is measured by a job and may have one
// [Trouble]. A trouble is a recipe: the arrivals it causes, their order, and
// how each must be answered. The recipes of all slots are shuffled into one
// plan that keeps each recipe's own order. So are those of a campaign's own
// troubles, and those of its runs' checkpoints, which observers read while the
// jobs go on.
//
// Authority: the numbers in [Config] decide everything. The same Config gives
// the same plan and the same bytes, in memory and from disk, on every machine
// with the same release of Go (which packs the zip files). There is no clock.
// What is expected comes from the recipes and not from the ledger's own rules,
// so that the two can be held against each other.
//
// [Cell] and [Opening] make single pieces of evidence, for tests elsewhere.
package simci
