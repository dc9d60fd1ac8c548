package tree

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// ReceiptFormat names the receipt's format.
const ReceiptFormat = "ledgerd-receipt/v1"

// MaxReceiptBytes bounds a receipt: the largest record, every byte of which
// may need a second one inside a JSON string, and a proof.
const MaxReceiptBytes = 3 * events.MaxRecordBytes

// Receipt proves, without the ledger, that a decision is in it: all that is
// needed is the ledger's public key, got some other way.
//
//	{
//	  "format": "ledgerd-receipt/v1",
//	  "index": 41,
//	  "record": "{\"v\":1,\"index\":41,…}",
//	  "evidence": {"arrival_sequence": 42, "arrival_sha256": "…", "documents": [{"name": "result", "sha256": "…"}]},
//	  "inclusion": ["base64 of a hash", …],
//	  "head": "ledgerd.invalid/4f0c…e1\n1027\nCsUY…\n\n— ledgerd.invalid/4f0c…e1 Az3g…\n",
//	  "verifier_key": "ledgerd.invalid/4f0c…e1+033de0ae+AQ…"
//	}
//
// The record is a string, so that every JSON parser gives its exact bytes: the
// leaf is SHA-256 of a zero byte and those. The evidence repeats what the
// record says of it, for people and scripts. A receipt has one spelling
// ([Receipt.Encode]); any other is refused, so that no byte of it goes
// unchecked.
type Receipt struct {
	Format      string   `json:"format"`
	Index       int64    `json:"index"`
	Record      string   `json:"record"`
	Evidence    Evidence `json:"evidence"`
	Inclusion   []string `json:"inclusion"`
	Head        string   `json:"head"`
	VerifierKey string   `json:"verifier_key"` // which key to ask for; it is not trusted
}

// Evidence are the digests by which a decision names what it decided about.
type Evidence struct {
	ArrivalSequence uint64     `json:"arrival_sequence"`
	ArrivalSHA256   string     `json:"arrival_sha256"` // of the arrival's payload
	Documents       []Document `json:"documents"`
}

// Document is the digest of something that was measured.
type Document struct {
	Name   string `json:"name"` // artifact, result, host, definition or records
	SHA256 string `json:"sha256"`
}

// EvidenceOf is what a decision says of its evidence.
func EvidenceOf(d *domain.Decision) Evidence {
	e := Evidence{ArrivalSequence: d.Arrival.Seq, ArrivalSHA256: d.Arrival.SHA256, Documents: []Document{}}
	switch data := d.Latest().(type) {
	case *domain.CellImported:
		e.add("artifact", data.Cell.ArtifactSHA256)
		e.add("result", data.Cell.ResultSHA256)
		e.add("host", data.Cell.HostSHA256)
		e.add("definition", data.Cell.DefinitionSHA256)
	case *domain.CellReference:
		e.add("artifact", data.Provenance.ArchiveSHA256)
	case *domain.CellRefused:
		if data.Provenance != nil {
			e.add("artifact", data.Provenance.ArchiveSHA256)
		}
	case *domain.CheckpointBound:
		e.add("records", data.Observed.SHA256)
	case *domain.CheckpointReference:
		e.add("records", data.Observed.SHA256)
	}
	return e
}

func (e *Evidence) add(name, digest string) {
	if digest != "" {
		e.Documents = append(e.Documents, Document{name, digest})
	}
}

// Receipt makes the receipt of the decision with an index under the last head.
// Errors: ErrNoHead, ErrBeyondHead (a later head will cover it), ErrRewritten,
// ErrTreeDamaged, those of a Log and of the record codec.
func (r *Reader) Receipt(ctx context.Context, index int64) (*Receipt, error) {
	head, err := r.Head(ctx)
	if err != nil {
		return nil, err
	}
	in, err := r.Inclusion(ctx, index, head.Size)
	if err != nil {
		return nil, err
	}
	record, err := r.record(ctx, index, in.Leaf)
	if err != nil {
		return nil, err
	}
	decision, err := events.ReadRecordAt(uint64(index)+1, record)
	if err != nil {
		return nil, errors.Wrap(err, "tree: make a receipt")
	}
	receipt := &Receipt{Format: ReceiptFormat, Index: index, Record: string(record), Evidence: EvidenceOf(decision),
		Inclusion: []string{}, Head: head.Note, VerifierKey: head.Key}
	for _, hash := range in.Proof {
		receipt.Inclusion = append(receipt.Inclusion, hash.String())
	}
	return receipt, nil
}

// Encode prints a receipt in its only spelling.
func (r *Receipt) Encode() []byte {
	p := &receiptPrinter{}
	p.member("{\n  ", "format", r.Format)
	p.out = append(p.out, ",\n  \"index\": "...)
	p.out = strconv.AppendInt(p.out, r.Index, 10)
	p.member(",\n  ", "record", r.Record)
	p.out = append(p.out, ",\n  \"evidence\": {\n    \"arrival_sequence\": "...)
	p.out = strconv.AppendUint(p.out, r.Evidence.ArrivalSequence, 10)
	p.member(",\n    ", "arrival_sha256", r.Evidence.ArrivalSHA256)
	p.list(",\n    \"documents\": [", len(r.Evidence.Documents), "\n      ", "\n    ", func(i int) {
		p.member("{", "name", r.Evidence.Documents[i].Name)
		p.member(", ", "sha256", r.Evidence.Documents[i].SHA256)
		p.out = append(p.out, '}')
	})
	p.list("\n  },\n  \"inclusion\": [", len(r.Inclusion), "\n    ", "\n  ", func(i int) { p.text(r.Inclusion[i]) })
	p.member(",\n  ", "head", r.Head)
	p.member(",\n  ", "verifier_key", r.VerifierKey)
	return append(p.out, "\n}\n"...)
}

// receiptPrinter appends JSON. It is written out here, and not left to a
// library, so that a receipt prints the same in every release.
type receiptPrinter struct{ out []byte }

func (p *receiptPrinter) member(before, name, value string) {
	p.out = append(p.out, before...)
	p.text(name)
	p.out = append(p.out, ": "...)
	p.text(value)
}

func (p *receiptPrinter) text(s string) {
	quoted, err := jsontext.AppendQuote(p.out, s)
	if err != nil {
		quoted = append(p.out, `""`...) // no UTF-8: no record, and whoever reads it back sees another
	}
	p.out = quoted
}

// list prints n items, each on its line.
func (p *receiptPrinter) list(open string, n int, before, end string, item func(i int)) {
	p.out = append(p.out, open...)
	for i := range n {
		if i > 0 {
			p.out = append(p.out, ',')
		}
		p.out = append(p.out, before...)
		item(i)
	}
	if n > 0 {
		p.out = append(p.out, end...)
	}
	p.out = append(p.out, ']')
}

// DecodeReceipt reads a receipt and believes nothing of it. Error:
// ErrReceiptMalformed.
func DecodeReceipt(file []byte) (*Receipt, error) {
	if len(file) > MaxReceiptBytes {
		return nil, errors.Wrapf(ErrReceiptMalformed, "%d bytes, more than %d", len(file), MaxReceiptBytes)
	}
	r := &Receipt{}
	if err := json.Unmarshal(file, r, json.RejectUnknownMembers(true)); err != nil {
		return nil, errors.Mark(errors.Wrap(err, "tree: read the receipt"), ErrReceiptMalformed)
	}
	if r.Format != ReceiptFormat {
		return nil, errors.Wrapf(ErrReceiptMalformed, "its format is %q, not %q", r.Format, ReceiptFormat)
	}
	if !bytes.Equal(r.Encode(), file) {
		return nil, errors.WithHint(errors.Wrap(ErrReceiptMalformed, "it is not spelt as it was written"),
			"use the file as `ledgerd receipt` wrote it: whoever formats it again changes it")
	}
	return r, nil
}

// Verified is what a receipt proves.
type Verified struct {
	Receipt  *Receipt
	Decision *domain.Decision
	Head     Head
}

// VerifyReceipt checks everything in a receipt against the trusted keys: the
// head's signature, the proof from the record to the head's root, and that
// what the receipt repeats is what the record says. trusted are verifier keys
// that came another way; the key in the receipt is not one. Errors:
// ErrReceiptMalformed, ErrUntrusted, ErrHeadMalformed, ErrProofFailed,
// ErrKeyMalformed for a trusted one.
func VerifyReceipt(file []byte, trusted ...string) (*Verified, error) {
	keys := make([]note.Verifier, len(trusted))
	for i, text := range trusted {
		var err error
		if keys[i], err = ParseKey(text); err != nil {
			return nil, err
		}
	}
	r, err := DecodeReceipt(file)
	if err != nil {
		return nil, err
	}
	// What needs no key comes first: it is cheap, and proves nothing by itself.
	decision, err := r.check()
	if err != nil {
		return nil, err
	}
	head, key, err := exactHead(r.Head, keys)
	if err != nil {
		return nil, err
	}
	if i := slices.Index(keys, key); trusted[i] != r.VerifierKey {
		return nil, errors.Wrap(ErrUntrusted, "the receipt names another key than the one that signed its head")
	}
	return &Verified{Receipt: r, Decision: decision, Head: head}, nil
}

// check makes sure that the record leads to the root in the head, whoever
// signed that, and that the receipt repeats what the record says.
func (r *Receipt) check() (*domain.Decision, error) {
	text, _, _ := strings.Cut(r.Head, "\n\n")
	head, err := parseHead(text + "\n")
	if err != nil {
		return nil, err
	}
	in := Inclusion{Index: r.Index, Size: head.Size, Leaf: tlog.RecordHash([]byte(r.Record)), Root: head.Root}
	if in.Proof, err = r.proof(); err != nil {
		return nil, err
	}
	if err := in.Check(); err != nil {
		return nil, err
	}
	decision, err := events.DecodeCanonicalRecord([]byte(r.Record))
	switch {
	case errors.Is(err, domain.ErrUnknownRules): // the proof holds, but nobody here can read what it proves
		return nil, errors.Wrap(err, "tree: read the receipt's record")
	case err != nil:
		return nil, errors.Mark(errors.Wrap(err, "tree: read the receipt's record"), ErrReceiptMalformed)
	}
	if decision.Index != uint64(r.Index) || !sameEvidence(EvidenceOf(decision), r.Evidence) {
		return nil, errors.Wrap(ErrReceiptMalformed, "the index or the evidence is not what the record says")
	}
	return decision, nil
}

func (r *Receipt) proof() (tlog.RecordProof, error) {
	proof := make(tlog.RecordProof, len(r.Inclusion))
	for i, text := range r.Inclusion {
		hash, err := tlog.ParseHash(text)
		if err != nil || hash.String() != text {
			return nil, errors.Wrapf(ErrReceiptMalformed, "inclusion/%d is no hash", i)
		}
		proof[i] = hash
	}
	return proof, nil
}

func sameEvidence(a, b Evidence) bool {
	return a.ArrivalSequence == b.ArrivalSequence && a.ArrivalSHA256 == b.ArrivalSHA256 && slices.Equal(a.Documents, b.Documents)
}
