package storefile_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit"
	"github.com/ledgerd/ledgerd/internal/audit/audittest"
	"github.com/ledgerd/ledgerd/internal/audit/storefile"
	"github.com/ledgerd/ledgerd/internal/natsserver"
	"github.com/ledgerd/ledgerd/internal/simci"
)

// tiny is a campaign of a few kilobytes.
func tiny() simci.Config { return simci.Config{Seed: 5, Scenarios: 1} }

func verify(t testing.TB, source audit.Source, memories ...audit.Memory) *audit.Verified {
	t.Helper()
	result, err := audit.Verify(audittest.WithPatience(t), audit.VerifyConfig{Source: source, Evidence: true, Memories: memories})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return result
}

// lengths are the places of all bytes of a block that the hash does not cover.
func lengths(block []byte) map[int]bool {
	places := map[int]bool{}
	for at := 0; at < len(block); {
		length := binary.LittleEndian.Uint32(block[at:])
		subject := int(binary.LittleEndian.Uint16(block[at+20:]))
		for _, i := range []int{0, 1, 2, 3, 20, 21} {
			places[at+i] = true
		}
		if length>>31 == 1 {
			for i := range 4 {
				places[at+22+subject+i] = true
			}
		}
		at += int(length &^ (1 << 31))
	}
	return places
}

// TestEveryFile changes every bit that no hash covers, and one bit of every
// third byte that one covers, and expects the change to be found in that file,
// or at that record.
func TestEveryFile(t *testing.T) {
	dir := t.TempDir()
	audittest.Store(t, dir, tiny())
	if result := verify(t, storefile.Ledger(dir)); !result.Sound() || result.Decisions < 5 {
		t.Fatalf("%+v", result)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for _, path := range ledgerFiles(t, dir) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var uncovered map[int]bool
		if strings.HasSuffix(path, ".blk") {
			uncovered = lengths(content)
		}
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		for at, was := range content {
			if at%3 != 0 && !uncovered[at] {
				continue
			}
			bits := []int{random.IntN(8)}
			if uncovered[at] {
				bits = []int{0, 1, 2, 3, 4, 5, 6, 7}
			}
			for _, bit := range bits {
				if _, err := file.WriteAt([]byte{was ^ 1<<bit}, int64(at)); err != nil {
					t.Fatal(err)
				}
				wantFound(t, dir, path, at, bit)
			}
			if _, err := file.WriteAt([]byte{was}, int64(at)); err != nil {
				t.Fatal(err)
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if result := verify(t, storefile.Ledger(dir)); !result.Sound() {
		t.Errorf("not put back: %v", result.Found)
	}
}

// wantFound reads the streams, and verifies only what reading alone does not
// find: that takes longer.
func wantFound(t *testing.T, dir, path string, at, bit int) {
	t.Helper()
	name := events.LedgerStream
	if strings.Contains(path, string(filepath.Separator)+events.ArrivalsStream+string(filepath.Separator)) {
		name = events.ArrivalsStream
	}
	reader, err := storefile.Stream(dir, name).Open(audittest.WithPatience(t), "")
	if err != nil {
		return // it names the file
	}
	_, found, _ := reader.Next(audittest.WithPatience(t))
	_, behind, _ := reader.Next(audittest.WithPatience(t))
	for _, f := range append(found, behind...) {
		if f.File == path {
			return
		}
	}
	if result := verify(t, storefile.Ledger(dir)); result.Sound() {
		t.Errorf("%s: nobody notices bit %d of byte %d", path, bit, at)
	}
}

// records cuts a block into its records.
func records(t testing.TB, path string) [][]byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for len(content) > 0 {
		length := binary.LittleEndian.Uint32(content) &^ (1 << 31)
		all = append(all, content[:length])
		content = content[length:]
	}
	return all
}

func write(t testing.TB, path string, records ...[]byte) {
	t.Helper()
	if err := os.WriteFile(path, bytes.Join(records, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// alterations are what can be done to a stream's files, each to both streams.
var alterations = map[string]func(t *testing.T, dir string) (file string){
	"a file is cut off by a byte": func(t *testing.T, dir string) string {
		block := filepath.Join(dir, "msgs", "1.blk")
		all := records(t, block)
		last := len(all) - 1
		write(t, block, append(slices.Clone(all[:last]), all[last][:len(all[last])-1])...)
		return block
	},
	"a file is cut off between two records": func(t *testing.T, dir string) string {
		block := filepath.Join(dir, "msgs", "1.blk")
		all := records(t, block)
		write(t, block, all[:len(all)-1]...)
		return filepath.Join(dir, "msgs")
	},
	"a file is empty": func(t *testing.T, dir string) string {
		write(t, filepath.Join(dir, "msgs", "1.blk"))
		return filepath.Join(dir, "msgs")
	},
	"a file is gone": func(t *testing.T, dir string) string {
		must(t, os.Remove(filepath.Join(dir, "msgs", "1.blk")))
		return filepath.Join(dir, "msgs")
	},
	"a file has another's name": func(t *testing.T, dir string) string {
		must(t, os.Rename(filepath.Join(dir, "msgs", "1.blk"), filepath.Join(dir, "msgs", "2.blk")))
		return filepath.Join(dir, "msgs", "2.blk")
	},
	"a record is gone": func(t *testing.T, dir string) string {
		block := filepath.Join(dir, "msgs", "1.blk")
		write(t, block, slices.Delete(records(t, block), 2, 3)...)
		return filepath.Join(dir, "msgs")
	},
	"two records changed places": func(t *testing.T, dir string) string {
		block := filepath.Join(dir, "msgs", "1.blk")
		all := records(t, block)
		all[2], all[3] = all[3], all[2]
		write(t, block, all...)
		return block
	},
	"a record is there twice": func(t *testing.T, dir string) string {
		block := filepath.Join(dir, "msgs", "1.blk")
		all := records(t, block)
		write(t, block, append(all, all[2])...)
		return block
	},
	"there is more behind the end": func(t *testing.T, dir string) string {
		block := filepath.Join(dir, "msgs", "1.blk")
		write(t, block, append(records(t, block), []byte("more"))...)
		return block
	},
	"the configuration is gone": func(t *testing.T, dir string) string {
		must(t, os.Remove(filepath.Join(dir, "meta.inf")))
		return filepath.Join(dir, "meta.inf")
	},
	"the configuration's hash is gone": func(t *testing.T, dir string) string {
		must(t, os.Remove(filepath.Join(dir, "meta.sum")))
		return filepath.Join(dir, "meta.inf")
	},
	"the summary is cut off": func(t *testing.T, dir string) string {
		must(t, os.Truncate(filepath.Join(dir, "msgs", "index.db"), 20))
		return filepath.Join(dir, "msgs", "index.db")
	},
	"the summary is empty": func(t *testing.T, dir string) string {
		must(t, os.Truncate(filepath.Join(dir, "msgs", "index.db"), 0))
		return filepath.Join(dir, "msgs", "index.db")
	},
}

func TestEveryAlterationOfTheFiles(t *testing.T) {
	original := t.TempDir()
	audittest.Store(t, original, tiny())
	for _, stream := range []string{events.ArrivalsStream, events.LedgerStream} {
		for name, alter := range alterations {
			t.Run(stream+", "+name, func(t *testing.T) {
				dir := copyDir(t, original)
				file := alter(t, storefile.Dir(dir, stream))
				result := verify(t, storefile.Ledger(dir))
				if !slices.ContainsFunc(result.Found, func(f audit.Finding) bool { return f.Stream == stream && f.File == file && f.Detail != "" }) {
					t.Errorf("nothing names %s of %s: %v", file, stream, result.Found)
				}
			})
		}
	}
	t.Run("the streams changed places", func(t *testing.T) {
		dir := copyDir(t, original)
		arrivals, ledger := storefile.Dir(dir, events.ArrivalsStream), storefile.Dir(dir, events.LedgerStream)
		must(t, os.Rename(arrivals, arrivals+"-"))
		must(t, os.Rename(ledger, arrivals))
		must(t, os.Rename(arrivals+"-", ledger))
		if result := verify(t, storefile.Ledger(dir)); result.Sound() {
			t.Error("nobody notices")
		}
	})
}

// TestWithoutTheSummary: after a crash there may be none. What the files hold
// counts.
func TestWithoutTheSummary(t *testing.T) {
	dir := t.TempDir()
	audittest.Store(t, dir, tiny())
	before := verify(t, storefile.Ledger(dir))
	for _, stream := range []string{events.ArrivalsStream, events.LedgerStream} {
		must(t, os.Remove(filepath.Join(storefile.Dir(dir, stream), "msgs", "index.db")))
	}
	if after := verify(t, storefile.Ledger(dir)); !after.Sound() || *after.Root != *before.Root {
		t.Errorf("%+v", after)
	}
}

// TestWhatTheServerHides starts a server on altered files. It cuts them back
// without a word to its clients; whoever verifies beside it, with what somebody
// remembers, must still notice.
func TestWhatTheServerHides(t *testing.T) {
	original := t.TempDir()
	audittest.Store(t, original, tiny())
	sound := verify(t, storefile.Ledger(original))
	memory := audit.Memory{Name: "the views", Seq: sound.Decisions, Hash: sound.Last}
	flip := func(t *testing.T, block string, record int) {
		all := records(t, block)
		all[record] = bytes.Clone(all[record])
		all[record][60] ^= 1
		write(t, block, all...)
	}
	for name, alter := range map[string]func(t *testing.T, block string){
		"a bit of the first record": func(t *testing.T, block string) { flip(t, block, 0) },
		"a bit in the middle":       func(t *testing.T, block string) { flip(t, block, 2) },
		"a bit of the last record":  func(t *testing.T, block string) { flip(t, block, len(records(t, block))-1) },
		"two records changed places": func(t *testing.T, block string) {
			alterations["two records changed places"](t, filepath.Dir(filepath.Dir(block)))
		},
		"a record is gone": func(t *testing.T, block string) {
			alterations["a record is gone"](t, filepath.Dir(filepath.Dir(block)))
		},
		"cut off between records": func(t *testing.T, block string) {
			alterations["a file is cut off between two records"](t, filepath.Dir(filepath.Dir(block)))
		},
	} {
		for _, stream := range []string{events.ArrivalsStream, events.LedgerStream} {
			t.Run(stream+", "+name, func(t *testing.T) {
				dir := copyDir(t, original)
				alter(t, filepath.Join(storefile.Dir(dir, stream), "msgs", "1.blk"))
				s, err := audittest.Try(t, dir)
				if errors.Is(err, natsserver.ErrStoreDamaged) {
					return // it says so itself
				}
				if err != nil {
					t.Fatal(err)
				}
				result, err := audit.Verify(audittest.WithPatience(t), audit.VerifyConfig{Source: s.Source(), Evidence: true, Memories: []audit.Memory{memory}})
				if err == nil && result.Sound() {
					t.Error("nobody notices")
				}
			})
		}
	}
}
