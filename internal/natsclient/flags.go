package natsclient

import (
	"log/slog"

	"github.com/cockroachdb/errors"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
)

// DefaultDataDir is where a ledger is when nothing else is said.
const DefaultDataDir = "./ledger-data"

// Flags say where the ledger is, for every command that connects. Commands of
// both binaries embed it; each flag is also a LEDGERD_… variable.
type Flags struct {
	DataDir   string `name:"data-dir" default:"./ledger-data" help:"Directory of a ledgerd that runs on this machine: its address and credentials are found there."`
	NATSURL   string `name:"nats-url" placeholder:"URL" secret:"url" help:"NATS server of a ledger elsewhere, for instance tls://nats.example.org:4222; used in place of --data-dir."`
	NATSCreds string `name:"nats-creds" placeholder:"FILE" help:"Credentials for --nats-url: a .creds file or an nkey seed."`
	NATSCA    string `name:"nats-ca" placeholder:"FILE" help:"Certificates (PEM) that vouch for --nats-url, where the system's do not."`
}

// Validate implements kong's check, so that a contradiction is a usage error.
func (f Flags) Validate() error {
	if f.NATSURL == "" && (f.NATSCreds != "" || f.NATSCA != "") {
		return errors.Newf("--nats-creds and --nats-ca need --nats-url")
	}
	if f.NATSURL == "" && f.DataDir == "" {
		return errors.Newf("--data-dir is empty; leave it out for %s", DefaultDataDir)
	}
	return nil
}

// Config is what the flags say, for one role. name names the connection.
func (f Flags) Config(role natsdeploy.Role, name string, log *slog.Logger) Config {
	return Config{
		DataDir: f.DataDir, URL: f.NATSURL, Creds: f.NATSCreds, CA: f.NATSCA,
		Role: role, Name: name, Logger: log,
	}
}
