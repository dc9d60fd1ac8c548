package jetstream

import (
	"context"
	"fmt"
	"slices"

	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/ledgerd/ledgerd/events"
)

// Weakness is something that could lose, drop or rewrite what a stream holds.
type Weakness struct {
	Stream string       `json:"stream"`
	Code   WeaknessCode `json:"code"`
	Detail string       `json:"detail"` // a sentence for people
}

// WeaknessCode says what is weak, for machines.
type WeaknessCode string

// The weaknesses.
const (
	WeakMissing     WeaknessCode = "missing"      // there is no such stream
	WeakSync        WeaknessCode = "sync"         // one copy, and acknowledged before it is on disk, or nobody knows
	WeakStorage     WeaknessCode = "storage"      // not on disk
	WeakDropping    WeaknessCode = "dropping"     // a limit, an age or a policy removes messages
	WeakRemoval     WeaknessCode = "removal"      // messages may be deleted, purged or replaced
	WeakExpiry      WeaknessCode = "expiry"       // messages may bring an end of their own
	WeakRewriting   WeaknessCode = "rewriting"    // messages are changed or made by the server
	WeakSources     WeaknessCode = "sources"      // messages come from another stream
	WeakSubjects    WeaknessCode = "subjects"     // it takes other subjects
	WeakLoss        WeaknessCode = "loss"         // messages are missing already
	WeakRoom        WeaknessCode = "room"         // ARRIVALS may take more than LEDGER can answer
	WeakSize        WeaknessCode = "size"         // it refuses messages that the other parts let through
	WeakAcknowledge WeaknessCode = "acknowledge"  // it does not acknowledge
	WeakFence       WeaknessCode = "fence"        // it does not take atomic batches
	WeakForeign     WeaknessCode = "other_ledger" // the two streams belong to different ledgers
)

// Sync says whether acknowledged messages are on disk.
type Sync string

// What is known of it.
const (
	SyncAlways  Sync = "always"
	SyncRelaxed Sync = "relaxed" // a power failure loses the last minutes
	SyncUnknown Sync = "unknown"
)

// Inspect names everything about the streams that could lose, drop or rewrite
// messages, and changes nothing. sync is what is known of the server
// ([AskSync]). Error: events.ErrUnavailable.
func Inspect(ctx context.Context, js natsjs.JetStream, sync Sync) ([]Weakness, error) {
	var found []Weakness
	infos := map[string]*natsjs.StreamInfo{}
	for _, want := range []natsjs.StreamConfig{arrivalsConfig(Limits{}), ledgerConfig(Limits{})} {
		info, err := newStream(js, want.Name).info(ctx)
		if isMissing(err) {
			found = append(found, Weakness{want.Name, WeakMissing, "the stream does not exist"})
			continue
		}
		if err != nil {
			return nil, err
		}
		infos[want.Name] = info
		i := inspection{stream: want.Name}
		i.durability(info.Config, sync)
		i.retention(info.Config)
		i.integrity(info.Config)
		i.intake(info.Config, want)
		i.state(info)
		found = append(found, i.found...)
	}
	if arrivals, ledger := infos[events.ArrivalsStream], infos[events.LedgerStream]; arrivals != nil && ledger != nil {
		found = append(found, inspectPair(arrivals.Config, ledger.Config)...)
	}
	return found, nil
}

// inspection collects the weaknesses of one stream.
type inspection struct {
	stream string
	found  []Weakness
}

func (i *inspection) when(weak bool, code WeaknessCode, format string, args ...any) {
	if weak {
		i.found = append(i.found, Weakness{i.stream, code, fmt.Sprintf(format, args...)})
	}
}

func (i *inspection) durability(c natsjs.StreamConfig, sync Sync) {
	i.when(c.Storage != natsjs.FileStorage, WeakStorage, "it is kept in memory and ends with the server")
	i.when(c.Replicas < 3 && sync == SyncRelaxed, WeakSync,
		"%d replica without sync_always: a power failure loses what was acknowledged in the last minutes", c.Replicas)
	i.when(c.Replicas < 3 && sync == SyncUnknown, WeakSync,
		"%d replica, and the server does not say whether it has sync_always: without it a power failure loses what was acknowledged in the last minutes", c.Replicas)
	i.when(c.PersistMode != natsjs.DefaultPersistMode, WeakSync, "it acknowledges before it writes (persist_mode async)")
	i.when(c.NoAck, WeakAcknowledge, "it does not acknowledge, so no producer knows what was stored")
}

func (i *inspection) retention(c natsjs.StreamConfig) {
	i.when(c.Retention != natsjs.LimitsPolicy, WeakDropping, "messages are removed once they are consumed (retention %s)", c.Retention)
	i.when(c.Discard != natsjs.DiscardNew, WeakDropping, "old messages are dropped to make room (discard %s)", c.Discard)
	i.when(c.MaxAge > 0, WeakDropping, "messages are dropped after %s (max_age)", c.MaxAge)
	i.when(c.MaxMsgsPerSubject > 0, WeakDropping, "a subject holds %d messages (max_msgs_per_subject)", c.MaxMsgsPerSubject)
	i.when(!c.DenyDelete, WeakRemoval, "messages may be deleted (deny_delete is off)")
	i.when(!c.DenyPurge, WeakRemoval, "the stream may be purged (deny_purge is off)")
	i.when(c.AllowRollup, WeakRemoval, "a message may replace all before it (allow_rollup_hdrs)")
	i.when(c.AllowMsgTTL, WeakExpiry, "a message may say when it expires (allow_msg_ttl)")
}

func (i *inspection) integrity(c natsjs.StreamConfig) {
	i.when(c.Mirror != nil, WeakSources, "it is a mirror")
	i.when(len(c.Sources) > 0, WeakSources, "it takes messages from %d other streams", len(c.Sources))
	i.when(c.SubjectTransform != nil, WeakRewriting, "it changes subjects (subject_transform)")
	i.when(c.AllowMsgCounter, WeakRewriting, "it rewrites bodies to counters (allow_msg_counter)")
	i.when(c.AllowMsgSchedules, WeakRewriting, "messages may have others made later (allow_msg_schedules)")
}

func (i *inspection) intake(c, want natsjs.StreamConfig) {
	i.when(!slices.Equal(c.Subjects, want.Subjects), WeakSubjects, "it takes %v, not %v", c.Subjects, want.Subjects)
	i.when(c.MaxMsgSize > 0 && c.MaxMsgSize < want.MaxMsgSize, WeakSize, "its largest message is %d bytes, not %d", c.MaxMsgSize, want.MaxMsgSize)
	i.when(c.Sealed, WeakSize, "it is sealed and takes nothing")
	i.when(want.AllowAtomicPublish && !c.AllowAtomicPublish, WeakFence, "it takes no atomic batches, which keep two writers apart")
	i.when(!want.AllowAtomicPublish && (c.AllowAtomicPublish || c.AllowBatchPublish), WeakRewriting,
		"producers may publish in batches, which nobody checked here")
}

func (i *inspection) state(info *natsjs.StreamInfo) {
	s := info.State
	i.when(info.Config.FirstSeq > 1, WeakLoss, "it was made to begin at sequence %d", info.Config.FirstSeq)
	i.when(s.FirstSeq > 1, WeakLoss, "it begins at sequence %d: what was before is gone", s.FirstSeq)
	i.when(s.Msgs > 0 && s.Msgs != s.LastSeq-s.FirstSeq+1, WeakLoss,
		"it holds %d messages between sequences %d and %d: some are missing", s.Msgs, s.FirstSeq, s.LastSeq)
}

// inspectPair looks at what the two streams are to each other.
func inspectPair(arrivals, ledger natsjs.StreamConfig) []Weakness {
	i := inspection{stream: events.ArrivalsStream}
	one, other := arrivals.Metadata[MetadataLedgerID], ledger.Metadata[MetadataLedgerID]
	i.when(one != other, WeakForeign, "it is of ledger %q, LEDGER of %q", one, other)
	if arrivals.MaxBytes <= 0 || arrivals.MaxMsgs <= 0 {
		i.when(true, WeakRoom, "it is not bounded in bytes and messages, so it may take more than LEDGER has room to answer")
		return i.found
	}
	share := share{arrivals.MaxBytes, arrivals.MaxMsgs, ledger.MaxBytes}
	i.when(ledger.MaxBytes > 0 && share.answers() > share.ledgerBytes, WeakRoom,
		"answers to all it may take need up to %d bytes, and LEDGER may keep %d", share.answers(), share.ledgerBytes)
	return i.found
}
