package tree

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// BundleFormat names the bundle's format.
const BundleFormat = "ledgerd-bundle/v1"

// MaxBundleBytes bounds a bundle that is read.
const MaxBundleBytes = 1 << 30

// ErrBundleBroken means that a bundle's records do not follow from each other:
// one is missing, doubled, moved or altered.
var ErrBundleBroken = errors.New("tree: the bundle is not the campaign's whole chain")

// Bundle is a campaign's own chain: its records from the opening to the seal,
// or to its last one while it is open, and of no other campaign. The first and
// the last are proven under one head; each names the one before, so that none
// between them can be missing. As a file it is a line of JSON and then the
// records, a line each, byte for byte as the ledger holds them:
//
//	{"format":"ledgerd-bundle/v1","campaign":"…","records":12,
//	 "opening":{"index":3,"inclusion":["base64 of a hash",…]},"last":{"index":57,"inclusion":[…]},
//	 "head":"…","verifier_key":"…"}
//	{"v":1,"index":3,…}
//	…
type Bundle struct {
	header  bundleHeader
	records [][]byte
}

type bundleHeader struct {
	Format      string      `json:"format"`
	Campaign    string      `json:"campaign"`
	Records     int         `json:"records"`
	Opening     bundleProof `json:"opening"`
	Last        bundleProof `json:"last"`
	Head        string      `json:"head"`
	VerifierKey string      `json:"verifier_key"` // which key to ask for; it is not trusted
}

type bundleProof struct {
	Index     int64    `json:"index"`
	Inclusion []string `json:"inclusion"`
}

// ErrNoCampaign means that the ledger has opened no such campaign.
var ErrNoCampaign = errors.New("tree: no such campaign was opened")

// CampaignBundle makes the bundle of a campaign under the last head. Errors:
// ErrNoCampaign, ErrNoHead, ErrBeyondHead (a later head will cover it),
// ErrRewritten, ErrTreeDamaged, those of a Log and of events.ReadRecord.
func (r *Reader) CampaignBundle(ctx context.Context, campaign string) (*Bundle, error) {
	b := &Bundle{header: bundleHeader{Format: BundleFormat, Campaign: campaign}}
	places, err := b.read(ctx, r.ledger, campaign)
	if err != nil {
		return nil, err
	}
	head, err := r.Head(ctx)
	if err != nil {
		return nil, err
	}
	b.header.Records, b.header.Head, b.header.VerifierKey = len(b.records), head.Note, head.Key
	for i, end := range []*bundleProof{&b.header.Opening, &b.header.Last} {
		end.Index = places[i]
		in, err := r.Inclusion(ctx, end.Index, head.Size)
		if err != nil {
			return nil, err
		}
		if leaf := tlog.RecordHash(b.records[i*(len(b.records)-1)]); leaf != in.Leaf {
			return nil, errors.Wrapf(ErrRewritten, "record %d", end.Index)
		}
		end.Inclusion = []string{}
		for _, hash := range in.Proof {
			end.Inclusion = append(end.Inclusion, hash.String())
		}
	}
	return b, nil
}

// read collects the campaign's records and gives the indexes of the first and
// the last.
func (b *Bundle) read(ctx context.Context, ledger events.Log, campaign string) (places [2]int64, err error) {
	end, err := ledger.Last(ctx, events.CampaignFilter(campaign)) // a cursor waits for what is not there yet
	switch {
	case errors.Is(err, events.ErrNotFound):
		return places, errors.Wrapf(ErrNoCampaign, "%q", campaign)
	case err != nil:
		return places, errors.Wrapf(err, "tree: last decision on campaign %q", campaign)
	}
	cursor, err := ledger.Read(ctx, 1, events.CampaignFilter(campaign))
	if err != nil {
		return places, errors.Wrapf(err, "tree: read campaign %q", campaign)
	}
	defer cursor.Close()
	for {
		messages, err := cursor.Next(ctx)
		if err != nil {
			return places, errors.Wrapf(err, "tree: read campaign %q", campaign)
		}
		for i := range messages {
			d, err := events.ReadRecord(&messages[i])
			if err != nil {
				return places, err
			}
			if d.CampaignIndex != nil { // before the opening it is of no chain
				b.records = append(b.records, messages[i].Data)
				if places[1] = int64(d.Index); len(b.records) == 1 {
					places[0] = places[1]
				}
			}
			if isSeal(d) || messages[i].Seq >= end.Seq {
				if len(b.records) == 0 {
					err = errors.Wrapf(ErrNoCampaign, "%q", campaign)
				}
				return places, err
			}
		}
	}
}

func isSeal(d *domain.Decision) bool {
	_, sealed := d.Latest().(*domain.Seal)
	return sealed
}

// WriteTo prints the bundle.
func (b *Bundle) WriteTo(out io.Writer) (int64, error) {
	header, err := json.Marshal(b.header)
	if err != nil {
		return 0, errors.Wrap(err, "tree: print the bundle")
	}
	var buffer bytes.Buffer
	for _, line := range slices.Insert(slices.Clone(b.records), 0, header) {
		buffer.Write(line)
		buffer.WriteByte('\n')
	}
	n, err := out.Write(buffer.Bytes())
	return int64(n), errors.Wrap(err, "tree: write the bundle")
}

// IsBundle reports whether a file says that it is a bundle.
func IsBundle(file []byte) bool {
	return bytes.HasPrefix(file, []byte(`{"format":"`+BundleFormat+`"`))
}

// VerifiedBundle is what a bundle proves. Nothing in it is taken from what a
// record says of the whole: all is folded again.
type VerifiedBundle struct {
	Campaign string
	Records  int
	Sealed   bool // it ends with the seal; else it says nothing of what came behind its last record
	Last     *domain.Decision
	State    *domain.Campaign // behind the last record
	Verdict  domain.Verdict   // at the seal, or of now
	Tally    domain.Tally     // likewise
	Refused  domain.Spend     // what refused cells claim, from the opening to the last record
	Head     Head
	Key      string // the trusted key that signed the head
}

// VerifyBundle folds a bundle again and checks it against the trusted keys:
// the head's signature, the proofs of the first and the last record, that each
// record names the one before, and that the seal says what the records come
// to. Errors: ErrReceiptMalformed, ErrUntrusted, ErrHeadMalformed,
// ErrProofFailed, ErrBundleBroken with the place, ErrKeyMalformed for a trusted
// one, domain.ErrUnknownRules.
func VerifyBundle(file []byte, trusted ...string) (*VerifiedBundle, error) {
	keys := make([]note.Verifier, len(trusted))
	for i, text := range trusted {
		var err error
		if keys[i], err = ParseKey(text); err != nil {
			return nil, err
		}
	}
	b, err := decodeBundle(file)
	if err != nil {
		return nil, err
	}
	head, key, err := exactHead(b.header.Head, keys)
	if err != nil {
		return nil, err
	}
	verified, err := b.fold()
	if err != nil {
		return nil, err
	}
	for i, end := range []*bundleProof{&b.header.Opening, &b.header.Last} {
		receipt := Receipt{Inclusion: end.Inclusion}
		in := Inclusion{Index: end.Index, Size: head.Size, Leaf: tlog.RecordHash(b.records[i*(len(b.records)-1)]), Root: head.Root}
		if in.Proof, err = receipt.proof(); err != nil {
			return nil, err
		}
		if err := in.Check(); err != nil {
			return nil, errors.Wrapf(err, "the bundle's record %d of %d, with index %d", i*(len(b.records)-1)+1, len(b.records), end.Index)
		}
	}
	if verified.Key = trusted[slices.Index(keys, key)]; verified.Key != b.header.VerifierKey {
		return nil, errors.Wrap(ErrUntrusted, "the bundle names another key than the one that signed its head")
	}
	verified.Head = head
	return verified, nil
}

// decodeBundle reads a bundle and believes nothing of it.
func decodeBundle(file []byte) (*Bundle, error) {
	if len(file) > MaxBundleBytes {
		return nil, errors.Wrapf(ErrReceiptMalformed, "%d bytes, more than %d", len(file), MaxBundleBytes)
	}
	lines := bytes.Split(file, []byte("\n"))
	if len(lines) < 3 || len(lines[len(lines)-1]) != 0 {
		return nil, errors.Wrap(ErrReceiptMalformed, "a bundle is a line and then its records, each ended by a line break")
	}
	b := &Bundle{records: lines[1 : len(lines)-1]}
	if err := json.Unmarshal(lines[0], &b.header, json.RejectUnknownMembers(true)); err != nil {
		return nil, errors.Mark(errors.Wrap(err, "tree: read the bundle"), ErrReceiptMalformed)
	}
	printed, err := json.Marshal(b.header)
	switch {
	case b.header.Format != BundleFormat:
		return nil, errors.Wrapf(ErrReceiptMalformed, "its format is %q, not %q", b.header.Format, BundleFormat)
	case err != nil || !bytes.Equal(printed, lines[0]):
		return nil, errors.WithHint(errors.Wrap(ErrReceiptMalformed, "it is not spelt as it was written"),
			"Use the file as `ledgerd bundle` wrote it: whoever formats it again changes it.")
	case b.header.Records != len(b.records):
		return nil, errors.Wrapf(ErrBundleBroken, "its first line tells of %d records and %d follow", b.header.Records, len(b.records))
	}
	return b, nil
}

// fold decides nothing: it follows the campaign's chain from the opening on.
func (b *Bundle) fold() (*VerifiedBundle, error) {
	v := &VerifiedBundle{Campaign: b.header.Campaign, Records: len(b.records)}
	refused := domain.NewRefusedSpend()
	for i, record := range b.records {
		broken := func(why string) error {
			return errors.Wrapf(ErrBundleBroken, "record %d of %d: %s", i+1, len(b.records), why)
		}
		d, err := events.DecodeCanonicalRecord(record)
		switch {
		case errors.Is(err, domain.ErrUnknownRules):
			return nil, errors.Wrapf(err, "record %d of %d", i+1, len(b.records))
		case err != nil:
			return nil, broken(err.Error())
		case d.Campaign != b.header.Campaign:
			return nil, broken(fmt.Sprintf("it is of campaign %q", d.Campaign))
		case v.Sealed:
			return nil, broken("it stands behind the seal")
		case v.Last != nil && d.Index <= v.Last.Index:
			return nil, broken("its index is not above the one before it")
		}
		if seal, ok := d.Latest().(*domain.Seal); ok && v.State != nil {
			if !sameJSON(seal.Verdict, v.State.Verdict()) || !sameJSON(seal.Tally, v.State.Tally()) {
				return nil, broken("the seal says something else than what the records before it come to")
			}
			v.Sealed, v.Verdict, v.Tally = true, seal.Verdict, seal.Tally
		}
		if v.State, err = domain.Fold(v.State, d, events.RecordHash(record)); err != nil {
			return nil, broken(strings.TrimSuffix(err.Error(), ": "+domain.ErrLedgerContradicts.Error()))
		}
		if v.State == nil {
			return nil, broken("it is no opening")
		}
		refused.Add(d)
		v.Last = d
	}
	if b.header.Opening.Index != int64(v.State.OpenedAt()) || b.header.Last.Index != int64(v.Last.Index) {
		return nil, errors.Wrap(ErrBundleBroken, "its first line proves other records than its first and its last")
	}
	if !v.Sealed {
		v.Verdict, v.Tally = v.State.Verdict(), v.State.Tally()
	}
	v.Refused = refused.Spend()
	return v, nil
}

func sameJSON(a, b any) bool {
	one, err := json.Marshal(a)
	other, otherErr := json.Marshal(b)
	return err == nil && otherErr == nil && bytes.Equal(one, other)
}
