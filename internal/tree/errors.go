package tree

import "github.com/cockroachdb/errors"

// Why a tree cannot go on. All are final: whoever runs it looks.
var (
	// ErrTreeDamaged: the stored hashes are not those that the root was made of.
	ErrTreeDamaged = errors.New("tree: the stored hashes are damaged")
	// ErrRewritten: the ledger's records give another root than the one that
	// was signed for as many of them.
	ErrRewritten = errors.New("tree: the ledger is not the one that was signed")
	// ErrKeyUnknown: the last head was signed by none of the keys.
	ErrKeyUnknown = errors.New("tree: the last tree head was signed by a key that is not here")
)

// Why a question has no answer.
var (
	// ErrNoHead: nothing is signed yet.
	ErrNoHead = errors.New("tree: no tree head is signed yet")
	// ErrStopped: the tree was told to end, and signs nothing more.
	ErrStopped = errors.New("tree: the tree has stopped")
	// ErrBeyondHead: the last signed head does not cover what was asked for.
	ErrBeyondHead = errors.New("tree: beyond the last signed tree head")
	// ErrNoTile: the path names no tile that a tree of the head's size has.
	ErrNoTile = errors.New("tree: no such tile")
	// ErrEntryTooLarge: an entry of the bundle is too long for its format.
	ErrEntryTooLarge = errors.New("tree: an entry is too large for a bundle")
)

// Why what somebody shows is not believed.
var (
	// ErrHeadMalformed: the text is no signed tree head.
	ErrHeadMalformed = errors.New("tree: malformed tree head")
	// ErrUntrusted: it was signed by none of the keys that are trusted, or the
	// signature is wrong.
	ErrUntrusted = errors.New("tree: not signed by a trusted key")
	// ErrKeyMalformed: the text is no verifier key.
	ErrKeyMalformed = errors.New("tree: malformed key")
	// ErrProofFailed: the proof does not lead from the one to the other.
	ErrProofFailed = errors.New("tree: the proof does not hold")
	// ErrReceiptMalformed: the file is no receipt as it was written.
	ErrReceiptMalformed = errors.New("tree: malformed receipt")
	// ErrSplitView: two heads that one key signed contradict each other.
	ErrSplitView = errors.New("tree: two signed tree heads contradict each other")
)

const (
	hintTree = "the ledger itself is not in these files: make the hashes from it again with `ledgerd tree rebuild`, " +
		"which compares them with the heads that were signed"
	hintRewritten = "nothing was changed, and nothing is signed over it; look at the ledger with `ledgerd verify` " +
		"and bring the streams back with `ledgerd restore`"
	hintKey = "bring the directory keys back from a backup. If it is lost for good, move tree.sqlite away: heads are then signed " +
		"with the new key; old receipts verify with the old public key only"
)

func treeDamaged(format string, args ...any) error {
	return errors.WithHint(errors.Wrapf(ErrTreeDamaged, format, args...), hintTree)
}

func rewritten(format string, args ...any) error {
	return errors.WithHint(errors.Wrapf(ErrRewritten, format, args...), hintRewritten)
}
