package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledgerd/ledgerd/internal/cli"
	"github.com/ledgerd/ledgerd/internal/tree/treestore"
	"github.com/ledgerd/ledgerd/projections"
)

// treeLedger is the demo's ledger with its tree, in a directory that no daemon
// holds.
func treeLedger(t *testing.T) (dataDir string) {
	t.Helper()
	dataDir = filepath.Join(t.TempDir(), "ledger")
	quiet := slog.New(slog.DiscardHandler)
	streams := cli.Streams{Out: io.Discard, Err: io.Discard}
	err := withDaemon(t.Context(), dataDir, quiet, func(ctx context.Context, d *daemon) error {
		return (&demoCommand{Seed: 1}).show(ctx, d, filepath.Join(t.TempDir(), "artifacts"), streams, quiet)
	})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	growStopped(t, dataDir)
	return dataDir
}

// growStopped brings the tree to the ledger's end, as a daemon does.
func growStopped(t *testing.T, dataDir string) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	source, err := openStopped(t.Context(), dataDir, quiet)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	defer source.close()
	tree, closing, err := openTree(t.Context(), dataDir, "", source.ledger, quiet)
	if err != nil {
		t.Fatalf("%+v", err)
	}
	defer closing()
	tail, err := source.ledger.Tail(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- tree.Run(ctx) }()
	_, err = tree.WaitForHead(ctx, int64(tail.Last))
	cancel()
	if stopped := <-ended; err != nil || stopped != nil {
		t.Fatalf("%+v, %+v", err, stopped)
	}
}

// runTree runs a command in this process and gives what it prints, its errors and
// its exit code.
func runTree(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var commands struct {
		Tree    treeCommands    `cmd:""`
		Receipt receiptCommands `cmd:""`
	}
	var out, errs bytes.Buffer
	code = cli.Program{Name: "ledgerd", Commands: &commands}.Run(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return out.String(), errs.String(), code
}

// done runs a command that must succeed.
func done(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, code := runTree(t, args...)
	if code != 0 {
		t.Fatalf("%v: exit code %d\n%s", args, code, stderr)
	}
	return stdout
}

// fails runs a command that must not, and say why.
func fails(t *testing.T, want int, says string, args ...string) {
	t.Helper()
	stdout, stderr, code := runTree(t, args...)
	if code != want || !strings.Contains(stderr, says) || stdout != "" {
		t.Errorf("%v: exit code %d, want %d; it prints %q and says\n%s\nand must say %q", args, code, want, stdout, stderr, says)
	}
	if strings.Contains(stderr, "PRIVATE") {
		t.Errorf("%v shows a secret: %s", args, stderr)
	}
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// anImport is one that counts, from the views.
func anImport(t *testing.T, dataDir string) projections.Import {
	t.Helper()
	store, err := openViews(t.Context(), dataDir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	list, err := store.Imports(t.Context(), projections.ImportQuery{Page: projections.Page{Limit: 10}})
	if err != nil || len(list.Items) == 0 {
		t.Fatalf("%d imports, %v", len(list.Items), err)
	}
	for _, item := range list.Items {
		if item.Void == nil {
			return item
		}
	}
	t.Fatal("no import counts")
	return projections.Import{}
}

// TestTreeCommands: what the ledger's machine prints is verified by the key
// alone, before and after the key was switched and the hashes were made again.
func TestTreeCommands(t *testing.T) {
	dataDir := treeLedger(t)
	at := []string{"--data-dir", dataDir}
	with := func(args ...string) []string { return append(args, at...) }

	key := done(t, with("tree", "key")...)
	if strings.Count(key, "+") < 2 || strings.Count(key, "\n") != 1 || !strings.HasPrefix(key, "ledgerd.invalid/") {
		t.Fatalf("the key is %q", key)
	}
	keyFile := write(t, "ledger.pub", key)
	imported := anImport(t, dataDir)
	receiptFile := filepath.Join(t.TempDir(), "receipt.json")
	if out := done(t, with("receipt", imported.ImportKey, "--campaign", imported.Campaign, "-o", receiptFile)...); out != "" {
		t.Errorf("it prints %q", out)
	}
	text := done(t, "receipt", "verify", receiptFile, "--key", keyFile)
	for _, says := range []string{"proven: decision", imported.ImportKey, imported.ArtifactSHA256, imported.ResultSHA256, imported.HostSHA256, imported.DefinitionSHA256} {
		if !strings.Contains(text, says) {
			t.Errorf("it says\n%s\nand must say %s", text, says)
		}
	}
	var verified struct {
		OK        bool   `json:"ok"`
		Index     uint64 `json:"index"`
		ImportKey string `json:"import_key"`
	}
	if err := json.Unmarshal([]byte(done(t, "receipt", "verify", receiptFile, "--json", "--key", strings.TrimSpace(key))), &verified); err != nil || !verified.OK || verified.Index != imported.Index || verified.ImportKey != imported.ImportKey {
		t.Errorf("%+v, %v", verified, err)
	}

	// Heads and proofs.
	var head struct {
		Size int64  `json:"size"`
		Note string `json:"note"`
	}
	if err := json.Unmarshal([]byte(done(t, with("tree", "head", "--json")...)), &head); err != nil || head.Note != done(t, with("tree", "head")...) {
		t.Errorf("%+v, %v", head, err)
	}
	if says := done(t, with("tree", "inclusion", "3", "--size", "7")...); !strings.HasPrefix(says, "record 3 is in the tree of 7 records\n") {
		t.Errorf("it says %q", says)
	}
	if says := done(t, with("tree", "consistency", "5", "9")...); !strings.HasPrefix(says, "the tree of 9 records continues the one of 5\n") {
		t.Errorf("it says %q", says)
	}
	if says := done(t, with("tree", "check")...); !strings.HasPrefix(says, "every stored hash is right") {
		t.Errorf("it says %q", says)
	}
	fails(t, 1, "beyond the last signed tree head", with("tree", "inclusion", "1000000")...)
	fails(t, 1, "beyond the last signed tree head", with("receipt", "--index", "1000000")...)
	fails(t, 1, "no such import", with("receipt", "1/1/nothing")...)
	fails(t, 2, "give an import key or --index", with("receipt")...)

	// Another key.
	oldHead := write(t, "old-head.txt", head.Note)
	newKey := done(t, with("tree", "rotate-key")...)
	if all := done(t, with("tree", "key", "--all")...); !strings.Contains(all, strings.TrimSpace(key)) || !strings.Contains(all, strings.TrimSpace(newKey)) || newKey == key {
		t.Errorf("the keys are\n%s", all)
	}
	growStopped(t, dataDir)
	done(t, "receipt", "verify", receiptFile, "--key", keyFile)
	fails(t, 1, "not signed by a trusted key", "receipt", "verify", receiptFile, "--key", strings.TrimSpace(newKey))
	newHead := write(t, "new-head.txt", done(t, with("tree", "head")...))
	if says := done(t, with("tree", "compare", oldHead, newHead, "--key", keyFile, "--key", strings.TrimSpace(newKey))...); !strings.Contains(says, "continues") {
		t.Errorf("it says %q", says)
	}
	fails(t, 1, "not signed by a trusted key", with("tree", "compare", oldHead, newHead, "--key", keyFile)...)

	// The hashes again.
	before := done(t, with("tree", "head")...)
	if says := done(t, with("tree", "rebuild")...); !strings.Contains(says, "as it was signed") || done(t, with("tree", "head")...) != before {
		t.Errorf("it says %q", says)
	}
	done(t, with("tree", "check")...)
}

func TestReceiptVerifyRefuses(t *testing.T) {
	receipt := write(t, "receipt.json", "{}")
	fails(t, 2, "--key", "receipt", "verify", receipt)
	fails(t, 2, "neither a public key nor a file", "receipt", "verify", receipt, "--key", "nothing")
	fails(t, 2, "read a verifier key", "receipt", "verify", receipt, "--key", write(t, "key", "no key"))
	fails(t, 1, "holds no tree", "tree", "head", "--data-dir", t.TempDir())
	fails(t, 1, "no keys there", "tree", "key", "--data-dir", t.TempDir())
}

// TestTreeOrigin: a new tree is named after its ledger, or as the operator
// says; then the name stays.
func TestTreeOrigin(t *testing.T) {
	dataDir := t.TempDir()
	if _, err := treestore.OpenKeys(dataDir, "ledger.example.com/evaluations", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	for origin, ok := range map[string]bool{"": true, "ledger.example.com/evaluations": true, "other.example.com": false} {
		if keys, err := openTreeKeys(t.Context(), dataDir, origin, nil); (err == nil) != ok || ok && keys.Origin() != "ledger.example.com/evaluations" {
			t.Errorf("%q: %v", origin, err)
		}
	}
}
