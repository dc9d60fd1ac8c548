package tree

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const (
	// maxHeadBytes bounds a head's text: three lines, and a signature for each
	// of some tens of witnesses.
	maxHeadBytes = 16 << 10
	// maxSize bounds a tree: indexes are numbers in JSON. (Beyond 1<<62 the
	// library's search for a power of two would not end.)
	maxSize = 1<<53 - 1
)

// Head is a signed tree head, a C2SP tlog-checkpoint:
//
//	ledgerd.invalid/4f0c…e1
//	1027
//	CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=
//
//	— ledgerd.invalid/4f0c…e1 Az3grlgt…Tw==
//
// Size is the number of records. The signature is Ed25519's over the three
// lines, which have no time in them: signing one tree twice gives one text.
type Head struct {
	Origin string
	Size   int64
	Root   tlog.Hash
	Note   string // as it was signed
}

func headText(origin string, size int64, root tlog.Hash) string {
	return fmt.Sprintf("%s\n%d\n%s\n", origin, size, root)
}

// SignHead signs a tree's root. The origin is the signer's name.
func SignHead(signer note.Signer, size int64, root tlog.Hash) (Head, error) {
	if size < 0 || size > maxSize {
		return Head{}, errors.AssertionFailedf("tree: a tree of %d records", size)
	}
	signed, err := note.Sign(&note.Note{Text: headText(signer.Name(), size, root)}, signer)
	if err != nil {
		return Head{}, errors.Wrap(err, "tree: sign the tree head")
	}
	return Head{Origin: signer.Name(), Size: size, Root: root, Note: string(signed)}, nil
}

// OpenHead reads a head and checks its signature by one of the keys, whose
// name must be the origin. Signatures of others are not looked at, as the
// format has it. Errors: ErrHeadMalformed, ErrUntrusted.
func OpenHead(text string, keys ...note.Verifier) (Head, error) {
	head, _, err := openHead(text, keys)
	return head, err
}

// openHead tells which key the head was verified by.
func openHead(text string, keys []note.Verifier) (Head, note.Verifier, error) {
	if len(text) > maxHeadBytes {
		return Head{}, nil, errors.Wrapf(ErrHeadMalformed, "%d bytes, more than %d", len(text), maxHeadBytes)
	}
	opened, err := note.Open([]byte(text), verifiers(keys))
	if err != nil {
		return Head{}, nil, openError(err)
	}
	head, err := parseHead(opened.Text)
	if err != nil {
		return Head{}, nil, err
	}
	head.Note = text
	for _, key := range keys {
		for _, signature := range opened.Sigs {
			if key.Name() == head.Origin && key.Name() == signature.Name && key.KeyHash() == signature.Hash {
				return head, key, nil
			}
		}
	}
	return Head{}, nil, errors.Wrapf(ErrUntrusted, "the head of %s is signed by another name", head.Origin)
}

// verifiers is a list in which nothing is ambiguous: a key that is given twice
// counts once.
func verifiers(keys []note.Verifier) note.Verifiers {
	var list []note.Verifier
	seen := map[string]bool{}
	for _, key := range keys {
		id := fmt.Sprintf("%s+%08x", key.Name(), key.KeyHash())
		if !seen[id] {
			seen[id] = true
			list = append(list, key)
		}
	}
	return note.VerifierList(list...)
}

// openError tells a note that is none from one that nobody trusted has signed.
func openError(err error) error {
	var unverified *note.UnverifiedNoteError
	var invalid *note.InvalidSignatureError
	if errors.As(err, &unverified) || errors.As(err, &invalid) {
		return errors.WithHint(errors.Mark(errors.Wrap(err, "tree: not signed by a trusted key"), ErrUntrusted),
			"was it made by the ledger whose key is trusted? `ledgerd tree key --all` prints a ledger's keys, old ones too")
	}
	return errors.Mark(errors.Wrap(err, "tree: read the signed note"), ErrHeadMalformed)
}

// parseHead reads the three lines, signed or not; what it accepts prints the same again.
func parseHead(text string) (Head, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[3] != "" {
		return Head{}, errors.Wrapf(ErrHeadMalformed, "%d lines where a head has 3", len(lines)-1)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || size > maxSize {
		return Head{}, errors.Wrapf(ErrHeadMalformed, "the size %q is no count", lines[1])
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != tlog.HashSize {
		return Head{}, errors.Wrapf(ErrHeadMalformed, "the root %q is no SHA-256", lines[2])
	}
	head := Head{Origin: lines[0], Size: size, Root: tlog.Hash(root)}
	if headText(head.Origin, head.Size, head.Root) != text || checkName(head.Origin) != nil {
		return Head{}, errors.Wrap(ErrHeadMalformed, "it does not print the same again")
	}
	return head, nil
}

// exactHead opens a head that holds one signature and nothing else, in its one
// spelling: base64 of 68 bytes has spare bits that a signature does not cover.
func exactHead(text string, keys []note.Verifier) (Head, note.Verifier, error) {
	head, key, err := openHead(text, keys)
	if err != nil {
		return Head{}, nil, err
	}
	prefix := headText(head.Origin, head.Size, head.Root) + "\n— " + key.Name() + " "
	encoded, found := strings.CutPrefix(text, prefix)
	encoded, ends := strings.CutSuffix(encoded, "\n")
	if !found || !ends || !isCanonicalBase64(encoded) {
		return Head{}, nil, errors.Wrap(ErrHeadMalformed, "it is not one signature in its only spelling")
	}
	return head, key, nil
}

// isCanonicalBase64 reports whether s is the only spelling of its bytes.
func isCanonicalBase64(s string) bool {
	raw, err := base64.StdEncoding.Strict().DecodeString(s)
	return err == nil && base64.StdEncoding.EncodeToString(raw) == s
}
