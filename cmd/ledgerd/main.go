// Command ledgerd is the ledger: one process that takes arrivals, decides each
// of them once, keeps the views and answers queries.
//
// Model: daemon.go is the wiring diagram. Everything that runs long is an actor
// there; everything else is a command in a file of its own. Authority: the data
// directory's lock says which daemon works on a directory, the streams
// themselves which one decides. Failure: a loop that cannot go on leaves the
// rest running and readable, makes the daemon not ready, and is why it ends
// with exit code 1 when it is stopped.
package main

import (
	"os"
	"runtime/debug"

	"github.com/ledgerd/ledgerd/internal/cli"
)

const description = `An evidence ledger for paid AI-agent evaluation campaigns.

Every artifact arrival is an event on a NATS JetStream stream; a single writer answers each with exactly one decision; anyone can replay the stream and must get the same ledger, byte for byte.

Examples:
  ledgerd demo --once                          see all of it on a simulated campaign
  ledgerd --data-dir ./ledger-data             run the daemon
  ledgerd query campaign chat-review           where a campaign stands
  ledgerd query rejections --campaign chat-review`

// commands are ledgerd's commands. Each has its file.
type commands struct {
	Serve   serveCommand    `cmd:"" default:"withargs" help:"Run the daemon (the default)."`
	Config  configCommands  `cmd:"" help:"The daemon's settings: what is in force, and whether it can run with it."`
	Check   checkCommand    `cmd:"" help:"Check that the daemon can run here: settings, keys, streams, database, disk, ports, clock."`
	Demo    demoCommand     `cmd:"" help:"Run a simulated campaign through the real path."`
	Query   queryCommands   `cmd:"" help:"Read the views."`
	Compare compareCommand  `cmd:"" help:"Compare two campaigns: better, worse, or not known."`
	Plan    planCommand     `cmd:"" help:"Say which drop a campaign would notice, and how many cells a smaller one needs."`
	Rebuild rebuildCommand  `cmd:"" help:"Rebuild views beside the live ones, then switch."`
	Replay  replayCommand   `cmd:"" help:"Decide every arrival again and compare."`
	Verify  verifyCommand   `cmd:"" help:"Walk the ledger and name all damage."`
	Export  exportCommand   `cmd:"" help:"Write the ledger as JSON Lines."`
	Backup  backupCommand   `cmd:"" help:"Copy both streams into a directory, verified."`
	Restore restoreCommand  `cmd:"" help:"Bring a backup back."`
	Tree    treeCommands    `cmd:"" help:"Tree heads, keys and consistency proofs."`
	Bundle  bundleCommand   `cmd:"" help:"Write a campaign's own records with their proofs: nothing left out."`
	Receipt receiptCommands `cmd:"" help:"Make a receipt that proves an import offline, or verify one."`
}

// collectPercent is the garbage collector's goal where GOGC does not say
// otherwise. Deciding, folding and replaying keep little and make much garbage:
// with Go's own goal of 100 collecting takes a sixth of the time.
const collectPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectPercent)
	}
	os.Exit(program().Main())
}

func program() cli.Program {
	return cli.Program{Name: "ledgerd", Description: description, Commands: &commands{}, Configured: "serve"}
}
