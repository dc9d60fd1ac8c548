package tree

import (
	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/tlog"
)

// CompareHeads tells whether two verified heads can be of one ledger. Heads of
// one size must have one root. For others prove is asked for the ledger's own
// proof between the sizes; it may be nil when they are equal. Errors:
// ErrSplitView (the two notes are the evidence), ErrProofFailed,
// ErrHeadMalformed for heads of two ledgers, prove's own.
func CompareHeads(a, b Head, prove func(from, to int64) (Consistency, error)) error {
	if a.Origin != b.Origin {
		return errors.Wrapf(ErrHeadMalformed, "the heads are of two ledgers, %s and %s", a.Origin, b.Origin)
	}
	if a.Size > b.Size {
		a, b = b, a
	}
	switch {
	case a.Size == b.Size && a.Root == b.Root:
		return nil
	case a.Size == b.Size:
		return splitView("%d records have root %s in one head and %s in the other", a.Size, a.Root, b.Root)
	case a.Size == 0:
		if a.Root != EmptyRoot {
			return splitView("an empty tree has root %s in one head", a.Root)
		}
		return nil
	case prove == nil:
		return errors.AssertionFailedf("tree: heads of %d and %d records need a proof", a.Size, b.Size)
	}
	c, err := prove(a.Size, b.Size)
	if err != nil {
		return err
	}
	return checkConsistency(a, b, c)
}

// checkConsistency holds the ledger's proof against what two heads say.
func checkConsistency(a, b Head, c Consistency) error {
	if c.From != a.Size || c.To != b.Size {
		return errors.Wrapf(ErrProofFailed, "it is from %d to %d records, not from %d to %d", c.From, c.To, a.Size, b.Size)
	}
	if tlog.CheckTree(c.Proof, b.Size, b.Root, a.Size, a.Root) == nil {
		return nil
	}
	// The proof may hold for the roots that the ledger shows now.
	if c.Check() == nil {
		if c.FromRoot != a.Root {
			return splitView("for %d records a head says root %s, the ledger proves %s", a.Size, a.Root, c.FromRoot)
		}
		return splitView("for %d records a head says root %s, the ledger proves %s", b.Size, b.Root, c.ToRoot)
	}
	return errors.Wrapf(ErrProofFailed, "from the head of %d records to that of %d", a.Size, b.Size)
}

func splitView(format string, args ...any) error {
	return errors.WithHint(errors.Wrapf(ErrSplitView, format, args...),
		"keep both notes as they are: together they prove that the key signed two histories")
}
