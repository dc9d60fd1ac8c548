// Command ingest is the producer's tool: it publishes facts to a ledger and
// tells what the ledger decided.
//
// Model: each command makes arrivals of what it is given, all of them before
// the first is published; publishes them in order; and, with --wait, prints
// the decision on each. Authority: none; the ledger decides, and the role of
// the credentials says what may be published. Failure: a non-zero exit code, a
// sentence and a hint; an arrival that was published stays published, and
// publishing it again is answered with duplicate.
package main

import (
	"os"

	"github.com/ledgerd/ledgerd/internal/cli"
)

const description = `Publish campaign evidence to a ledger, and see what the ledger decided.

A ledger is found by --data-dir (a ledgerd on this machine) or by --nats-url with --nats-creds.

Examples:
  ingest campaign template > campaign.json
  ingest campaign open campaign.json --wait
  ingest artifact results.zip --campaign chat-review --provenance provenance.json --wait
  ingest campaign seal chat-review --actor ana --wait

Exit codes: 0 done, 1 failed, 2 usage, 3 the ledger refused what was sent.`

// commands are ingest's commands. Each has its file.
type commands struct {
	Campaign   campaignCommands   `cmd:"" help:"Open or seal a campaign, or print a file to start from."`
	Artifact   artifactCommand    `cmd:"" help:"Publish the cells in a CI artifact (a zip file)."`
	Void       voidCommand        `cmd:"" help:"Take an import back: it stays in the ledger and no longer counts."`
	Publish    publishCommand     `cmd:"" help:"Publish arrivals of any kind from JSON lines."`
	Status     statusCommand      `cmd:"" help:"Print the decision on an arrival."`
	Validate   validateCommand    `cmd:"" help:"Hold cells against the gates, without a ledger."`
	Checkpoint checkpointCommands `cmd:"" help:"Bind a runner's checkpoint read."`
}

func main() {
	os.Exit(program().Main())
}

func program() cli.Program {
	return cli.Program{Name: "ingest", Description: description, Commands: &commands{}}
}
