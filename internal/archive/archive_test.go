package archive_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/ledgerd/ledgerd/internal/archive"
)

func digest(raw string) string {
	sum := sha256.Sum256([]byte(raw))
	return hex.EncodeToString(sum[:])
}

func document(path, raw string) archive.Document {
	return archive.Document{Path: path, Raw: []byte(raw), SHA256: digest(raw)}
}

const prefix = "tests/results/"

func TestReadsExecutionsWithTheirDocuments(t *testing.T) {
	z := zipFile{comment: "made by a job", files: []file{
		{name: "7-1/"},
		{name: "7-1/host.json", content: hostText, method: 8, descriptor: "signed"},
		{name: "7-1/b-r1/attempt-1/result.json", content: `{"executionId":"b"}`, method: 8, descriptor: "plain"},
		{name: "7-1/b-r1/definition.json", content: `{"scenarioId":"b"}`},
		{name: "7-1/a-r1/attempt-1/result.json", content: `{"executionId":"a"}`, attributes: 0o100644 << 16},
		{name: "7-1/a-r1/attempt-1/definition.json", content: `{"scenarioId":"a"}`, method: 8},
		{name: "7-1/a-r1/attempt-1/host.json", content: `{"region":"eu"}`, descriptor: "signed", localSize: p(uint32(15))}, // known before it was packed
		{name: "7-1/a-r1/naïve.log", content: "log", flags: 1 << 11},
	}}
	raw := z.bytes()
	a := wantRead(t, z, archive.Options{PathPrefix: prefix})
	want := &archive.Archive{SHA256: digest(string(raw)), Bytes: int64(len(raw)), Executions: []archive.Execution{{
		ExecutionID: "a",
		Result:      document(prefix+"7-1/a-r1/attempt-1/result.json", `{"executionId":"a"}`),
		Host:        document(prefix+"7-1/a-r1/attempt-1/host.json", `{"region":"eu"}`),
		Definition:  document(prefix+"7-1/a-r1/attempt-1/definition.json", `{"scenarioId":"a"}`),
	}, {
		ExecutionID: "b",
		Result:      document(prefix+"7-1/b-r1/attempt-1/result.json", `{"executionId":"b"}`),
		Host:        document(prefix+"7-1/host.json", hostText),
		Definition:  document(prefix+"7-1/b-r1/definition.json", `{"scenarioId":"b"}`),
	}}}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Fatal(diff)
	}
}

func TestReadsWhatOrdinaryToolsWrite(t *testing.T) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for name, content := range map[string]string{"r/result.json": resultText, "r/host.json": hostText, "definition.json": definitionText, "logs/": ""} {
		entry, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(entry, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := read(packed.Bytes(), archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Executions) != 1 || a.Executions[0].ExecutionID != "suite.greeting-r1" || string(a.Executions[0].Definition.Raw) != definitionText {
		t.Fatalf("%+v", a.Executions)
	}
}

func TestPathPrefix(t *testing.T) {
	stripped := file{name: "7-1/greeting-r1/result.json", content: resultText}
	whole := stripped
	whole.name = prefix + whole.name
	others := measured().files[1:]
	for _, with := range []string{prefix, strings.TrimSuffix(prefix, "/")} {
		for _, f := range []file{stripped, whole} {
			a := wantRead(t, zipFile{files: append([]file{f}, others...)}, archive.Options{PathPrefix: with})
			if got := a.Executions[0].Result.Path; got != whole.name {
				t.Errorf("prefix %q, entry %q: the result's path is %q", with, f.name, got)
			}
		}
	}
	// One file, once with its prefix and once without, is one file twice.
	wantRefused(t, measured(whole).bytes(), archive.Options{PathPrefix: prefix}, archive.ErrArchiveDuplicate)
	for _, wrong := range []string{"/tests/", "tests/../x/", `tests\`, "C:/tests", "/", "a//b"} {
		wantRefused(t, measured().bytes(), archive.Options{PathPrefix: wrong}, archive.ErrArchiveOptions)
	}
}

func TestPatterns(t *testing.T) {
	z := zipFile{files: []file{
		{name: "a.result.json", content: `{"executionId":"a"}`},
		{name: "b.result.json", content: `{"executionId":"b"}`},
		{name: "machine.json", content: hostText},
		{name: "what.json", content: definitionText},
	}}
	patterns := archive.Documents{Result: "*.result.json", Host: "machine.json", Definition: "wha[st].json"}
	a := wantRead(t, z, archive.Options{Documents: patterns})
	if len(a.Executions) != 2 || a.Executions[1].ExecutionID != "b" {
		t.Fatalf("%+v", a.Executions)
	}
	patterns.Host = "*.json"
	wantRefused(t, z.bytes(), archive.Options{Documents: patterns}, archive.ErrArchiveDocuments)
	for _, wrong := range []string{"[", "a/result.json"} {
		wantRefused(t, z.bytes(), archive.Options{Documents: archive.Documents{Definition: wrong}}, archive.ErrArchiveOptions)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "artifact.zip")
	if err := os.WriteFile(name, measured().bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := archive.Open(context.Background(), name, archive.Options{})
	if err != nil || len(a.Executions) != 1 {
		t.Fatalf("%+v, %v", a, err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{dir, pipe, filepath.Join(dir, "absent.zip")} {
		if _, err := archive.Open(context.Background(), wrong, archive.Options{}); !errors.Is(err, archive.ErrArchiveUnreadable) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Open(context.Background(), name, archive.Options{}); !errors.Is(err, archive.ErrArchiveEmpty) || !strings.Contains(err.Error(), name) {
		t.Errorf("an empty file: %v", err)
	}
}

// changing serves other bytes, or an error, after some reads.
type changing struct {
	first, then io.ReaderAt
	reads       int
	wrong       error
	hook        func()
}

func (c *changing) ReadAt(p []byte, offset int64) (int, error) {
	if c.reads--; c.reads >= 0 {
		return c.first.ReadAt(p, offset)
	}
	if c.hook != nil {
		c.hook()
	}
	if c.wrong != nil {
		return 0, c.wrong
	}
	return c.then.ReadAt(p, offset)
}

func TestFileThatChangesOrFailsIsRefused(t *testing.T) {
	raw := measured().bytes()
	other := bytes.Replace(raw, []byte("us-east-1"), []byte("us-east-2"), 1)
	size := int64(len(raw))
	failed := errors.New("disk: bad sector")
	ctx, cancel := context.WithCancel(context.Background())
	var changedSeen, failedSeen, canceledSeen int
	for reads := range 40 {
		_, err := archive.Read(context.Background(), &changing{first: bytes.NewReader(raw), then: bytes.NewReader(other), reads: reads}, size, archive.Options{})
		if errors.Is(err, archive.ErrArchiveChanged) {
			changedSeen++
		} else if err == nil && reads == 1 {
			t.Errorf("changed after the first digest, and read")
		}
		_, err = archive.Read(context.Background(), &changing{first: bytes.NewReader(raw), wrong: failed, reads: reads}, size, archive.Options{})
		if err != nil {
			failedSeen++
			if !errors.Is(err, archive.ErrArchiveUnreadable) || !errors.Is(err, failed) {
				t.Errorf("read %d fails: %v", reads, err)
			}
		}
		_, err = archive.Read(ctx, &changing{first: bytes.NewReader(raw), then: bytes.NewReader(raw), reads: reads, hook: cancel}, size, archive.Options{})
		if err != nil {
			canceledSeen++
			if !errors.Is(err, context.Canceled) || errors.Is(err, archive.ErrArchiveUnreadable) {
				t.Errorf("canceled at read %d: %v", reads, err)
			}
		}
		ctx, cancel = context.WithCancel(context.Background())
	}
	cancel()
	if changedSeen == 0 || failedSeen < 10 || canceledSeen < 10 {
		t.Fatalf("%d changes, %d failures and %d cancellations were seen", changedSeen, failedSeen, canceledSeen)
	}
	if _, err := archive.Read(context.Background(), bytes.NewReader(raw), size+1, archive.Options{}); !errors.Is(err, archive.ErrArchiveChanged) {
		t.Errorf("a file shorter than it was: %v", err)
	}
}

func TestCellBody(t *testing.T) {
	a := wantRead(t, measured(), archive.Options{PathPrefix: prefix})
	e := a.Executions[0]
	body, err := archive.CellBody([]byte(` { "runId": "7" } `), &e)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"provenance":{"runId":"7"},` +
		`"result":{"path":"tests/results/7-1/greeting-r1/result.json","bytes":"{\"executionId\":\"suite.greeting-r1\",\"status\":\"passed\"}","sha256":"` + digest(resultText) + `"},` +
		`"host":{"path":"tests/results/7-1/greeting-r1/host.json","bytes":"{\"region\":\"us-east-1\"}","sha256":"` + digest(hostText) + `"},` +
		`"definition":{"path":"tests/results/7-1/greeting-r1/definition.json","bytes":"{\"scenarioId\":\"greeting\"}","sha256":"` + digest(definitionText) + `"}}`
	if string(body) != want {
		t.Fatalf("got  %s\nwant %s", body, want)
	}
	e.Host = document("h", "\xff\xfe")
	body, err = archive.CellBody([]byte(`{}`), &e)
	if err != nil || !bytes.Contains(body, []byte(`"host":{"path":"h","base64":"//4=","sha256"`)) {
		t.Fatalf("%s, %v", body, err)
	}
	for _, wrong := range []string{``, `[]`, `{`, `{"a":1,"a":2}`, `{}{}`} {
		if _, err := archive.CellBody([]byte(wrong), &e); !errors.Is(err, archive.ErrArchiveDocument) {
			t.Errorf("provenance %q: %v", wrong, err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })
	for name, content := range map[string]string{
		"r/result.json":     `{"executionId":"a","log":"` + strings.Repeat("0123456789abcdef", 256) + `"}`,
		"r/host.json":       hostText,
		"r/definition.json": definitionText,
	} {
		entry, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(entry, content)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	raw := packed.Bytes()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read(raw, archive.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
