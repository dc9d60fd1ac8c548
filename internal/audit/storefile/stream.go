package storefile

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/minio/highwayhash"
	natsjs "github.com/nats-io/nats.go/jetstream"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/events"
	"github.com/ledgerd/ledgerd/internal/audit"
)

// Ledger is the source of a ledger in a stopped server's store directory.
func Ledger(storeDir string) audit.Source {
	return audit.Streams{Arrivals: Stream(storeDir, events.ArrivalsStream), Ledger: Stream(storeDir, events.LedgerStream)}
}

// Stream is one stream of the LEDGER account in a store directory.
func Stream(storeDir, name string) audit.Stream {
	return &stream{dir: Dir(storeDir, name), name: name}
}

// Dir is where a stream's files are in a store directory.
func Dir(storeDir, name string) string {
	return filepath.Join(storeDir, "jetstream", natsdeploy.LedgerAccount, "streams", name)
}

// Config reads how a stream was made. Errors: ErrNoStream, ErrUnknownForm.
func Config(storeDir, name string) (*natsjs.StreamConfig, error) {
	dir := Dir(storeDir, name)
	if err := exists(dir); err != nil {
		return nil, err
	}
	return readMeta(dir, name)
}

type stream struct{ dir, name string }

func exists(dir string) error {
	_, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return errors.WithHint(errors.Wrap(ErrNoStream, dir), "`ledgerd serve` makes the streams, `ledgerd restore` brings them back from a backup")
	}
	return errors.Wrap(err, "look at the stream")
}

// Open begins to read. Errors: ErrNoStream, ErrUnknownForm.
func (s *stream) Open(_ context.Context, campaign string) (audit.StreamReader, error) {
	if err := exists(s.dir); err != nil {
		return nil, err
	}
	r := &reader{stream: s}
	if campaign != "" {
		r.filters = []string{events.ArrivalSubject(campaign, "*"), events.CampaignFilter(campaign)}
	}
	if _, err := os.Stat(filepath.Join(s.dir, metaKeyName)); err == nil {
		return nil, errors.WithHint(errors.Wrapf(ErrUnknownForm, "%s is encrypted", s.dir), "start the server with its key and run the command beside it")
	}
	if _, err := readMeta(s.dir, s.name); errors.Is(err, errDamaged) {
		r.report(0, filepath.Join(s.dir, metaName), "%v; no server takes the stream up like that", err)
	} else if err != nil {
		return nil, err
	}
	if found, err := readIndex(s.dir, s.name); errors.Is(err, errDamaged) {
		r.report(0, filepath.Join(s.dir, messagesName, indexName), "%v; the server makes it anew when it starts, so that no message is lost by this alone", err)
	} else if err != nil {
		return nil, err
	} else if found != nil {
		r.index = *found
	}
	var err error
	r.blocks, err = blocks(filepath.Join(s.dir, messagesName))
	return r, err
}

// blocks lists the numbers of the blocks, in order.
func blocks(dir string) ([]uint32, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Wrap(err, "list the blocks")
	}
	var numbers []uint32
	for _, entry := range entries {
		digits, isBlock := strings.CutSuffix(entry.Name(), blockSuffix)
		if n, err := strconv.ParseUint(digits, 10, 32); isBlock && err == nil {
			numbers = append(numbers, uint32(n))
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// reader reads one block after the other.
type reader struct {
	stream  *stream
	filters []string // subjects that are wanted; none: all
	index   index    // zero when there is none that can be read
	blocks  []uint32 // not read yet
	found   []audit.Finding

	last  uint64 // sequence of the last message that was read
	count uint64 // messages that were read

	block block // what is being read
}

// block is a file that is being read.
type block struct {
	path string
	rest []byte
	size int
	hash *highwayhash.Digest64
}

func (r *reader) report(seq uint64, file, format string, args ...any) {
	r.found = append(r.found, audit.Finding{Problem: audit.ProblemFile, Stream: r.stream.name, Sequence: seq, File: file, Detail: fmt.Sprintf(format, args...)})
}

// Last is what the index says.
func (r *reader) Last() uint64 { return r.index.last }

func (r *reader) Close() error { return nil }

func (r *reader) Next(ctx context.Context) ([]events.Message, []audit.Finding, error) {
	var messages []events.Message
	for size := 0; len(messages) < audit.PortionMessages && size < audit.PortionBytes; {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if len(r.block.rest) == 0 {
			more, err := r.openBlock()
			if err != nil {
				return nil, nil, err
			}
			if !more {
				break
			}
			continue
		}
		if m := r.step(); m != nil {
			messages = append(messages, *m)
			size += len(m.Data)
		}
	}
	found := r.found
	r.found = nil
	if len(messages) == 0 && len(r.block.rest) == 0 && len(r.blocks) == 0 {
		return nil, append(found, r.compareIndex()...), io.EOF
	}
	return messages, found, nil
}

// openBlock reads the next file, and reports false when there is none.
func (r *reader) openBlock() (bool, error) {
	if len(r.blocks) == 0 {
		return false, nil
	}
	number := r.blocks[0]
	r.blocks = r.blocks[1:]
	path := filepath.Join(r.stream.dir, messagesName, strconv.FormatUint(uint64(number), 10)+blockSuffix)
	content, err := os.ReadFile(path)
	if err != nil {
		return false, errors.Wrap(err, "read a block")
	}
	r.block = block{path: path, rest: content, size: len(content), hash: blockHasher(r.stream.name, number)}
	return true, nil
}

// step reads one record and gives its message, if it is one that is wanted.
func (r *reader) step() *events.Message {
	at := r.block.size - len(r.block.rest)
	record, size, err := readRecord(r.block.rest, r.block.hash)
	switch {
	case errors.Is(err, errLength):
		r.report(r.last+1, r.block.path, "from byte %d on it cannot be read: %v; a server drops the %d bytes from there, as it does with a write that a crash cut off", at, err, len(r.block.rest))
		r.block.rest = nil
		return nil
	case err != nil:
		r.report(r.last+1, r.block.path, "the record at byte %d was changed: %v; a server drops everything from there to the file's end", at, err)
		r.block.rest = r.block.rest[size:]
		return nil
	}
	r.block.rest = r.block.rest[size:]
	m := &record.message
	switch {
	case record.tombstone && m.Seq > 0:
		r.report(m.Seq, r.block.path, "it was deleted: byte %d holds its tombstone", at)
		return nil
	case record.erased || record.tombstone:
		return nil // whoever walks misses it
	case m.Seq <= r.last:
		r.report(m.Seq, r.block.path, "byte %d holds it behind sequence %d", at, r.last)
		return nil
	}
	r.last = m.Seq
	r.count++
	if !events.AnyMatches(r.filters, m.Subject) {
		return nil
	}
	return m
}

// compareIndex holds what was read against what the server knew when it
// stopped. It may have gone on since and crashed, but not have lost anything.
func (r *reader) compareIndex() []audit.Finding {
	switch known := &r.index; {
	case known.last > r.last:
		r.report(r.last+1, filepath.Join(r.stream.dir, messagesName), "the files end before it, and %s knows of messages up to sequence %d", indexName, known.last)
	case known.messages > r.count:
		r.report(0, filepath.Join(r.stream.dir, messagesName), "the files hold %d messages, and %s knows of %d", r.count, indexName, known.messages)
	}
	found := r.found
	r.found = nil
	return found
}
