package backup

import (
	"bytes"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	natsjs "github.com/nats-io/nats.go/jetstream"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/internal/datadir"
)

const (
	manifestName = "manifest.json"
	configName   = "backup.json"
	archiveName  = "stream.arc.s2"

	magic  = "backup"
	format = 1
)

// Manifest says what a backup is of.
type Manifest struct {
	Ledgerd   string              `json:"ledgerd"` // "backup"
	Format    int                 `json:"format"`  // 1
	Created   time.Time           `json:"created_at"`
	Ledger    datadir.Description `json:"ledger"`
	Arrivals  uint64              `json:"arrivals"`
	Decisions uint64              `json:"decisions"`
	Root      tlog.Hash           `json:"root"` // RFC 6962, of the decisions' records
	Last      string              `json:"last"` // hash of the last record
	// TreeHead is a signed head of the ledger that the backup continues, "" when
	// none was signed yet.
	TreeHead string `json:"tree_head"`
}

func (m *Manifest) print() ([]byte, error) {
	raw, err := json.Marshal(m, jsontext.WithIndent("  "), json.Deterministic(true))
	return append(raw, '\n'), errors.Wrap(err, "print the manifest")
}

// readManifest reads it strictly. Error: ErrNoBackup.
func readManifest(dir string) (*Manifest, error) {
	raw, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.WithHint(errors.Wrapf(ErrNoBackup, "%s has no %s", dir, manifestName), "give the directory that `ledgerd backup` was given")
	}
	if err != nil {
		return nil, errors.Wrap(err, "read the manifest")
	}
	m := &Manifest{}
	err = json.Unmarshal(raw, m, json.RejectUnknownMembers(true))
	switch {
	case err != nil || m.Ledgerd != magic:
		return nil, errors.WithHint(errors.Wrapf(ErrNoBackup, "%s of %s cannot be read", manifestName, dir), "the file was changed, or is another program's: take another backup")
	case m.Format != format:
		return nil, errors.WithHint(errors.Wrapf(ErrNoBackup, "%s has format %d, this program reads %d", dir, m.Format, format), "use the ledgerd that wrote it, or a later one")
	}
	if again, err := m.print(); err != nil || !bytes.Equal(again, raw) {
		return nil, errors.WithHint(errors.Wrapf(ErrNoBackup, "%s of %s is not written as a backup writes it", manifestName, dir), "the file was changed: take another backup")
	}
	return m, nil
}

// streamFile is a stream's backup.json, as the nats command has it.
type streamFile struct {
	Config *natsjs.StreamConfig `json:"config"`
	State  state                `json:"state"`
}
