package tree

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cockroachdb/errors"
	"golang.org/x/mod/sumdb/note"
)

// MaxOriginBytes bounds an origin: it is in every head and signature line.
const MaxOriginBytes = 256

// Origin is a ledger's origin unless the operator chose another: the ledger's
// id below a name that nobody can own (RFC 2606), so that it claims no domain.
func Origin(ledgerID string) string { return "ledgerd.invalid/" + ledgerID }

// CheckOrigin refuses what cannot be an origin and a key's name: empty, longer
// than MaxOriginBytes, or with a space, a control character or a plus sign.
// Error: ErrKeyMalformed.
func CheckOrigin(origin string) error {
	return errors.WithHint(checkName(origin), "an origin is a URL without its scheme, for instance ledger.example.com/evaluations")
}

func checkName(name string) error {
	bad := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '+' }
	if name == "" || len(name) > MaxOriginBytes || !utf8.ValidString(name) || strings.IndexFunc(name, bad) >= 0 {
		return errors.Wrapf(ErrKeyMalformed, "%q is no name of a key", cut(name))
	}
	return nil
}

// cut keeps a message readable.
func cut(s string) string { return s[:min(len(s), MaxOriginBytes)] }

// Key is a public key that signs or once signed heads.
type Key struct {
	Verifier string    // name+hash+base64, as note.NewVerifier reads it
	Since    time.Time // UTC, for people
	Switch   string    // signed note by which the key before it names this one; "" for the first
}

// Keys are a ledger's.
type Keys struct {
	Signer note.Signer // the last key's; nil for those who only read
	All    []Key       // every key that ever signed, oldest first
}

// Origin is the name of all of them.
func (k *Keys) Origin() string {
	name, _, _ := strings.Cut(k.All[len(k.All)-1].Verifier, "+")
	return name
}

// Current is the verifier key of the one that signs.
func (k *Keys) Current() string { return k.All[len(k.All)-1].Verifier }

// Verifiers are all of them. Error: ErrKeyMalformed.
func (k *Keys) Verifiers() ([]note.Verifier, error) {
	list := make([]note.Verifier, len(k.All))
	for i, key := range k.All {
		var err error
		if list[i], err = ParseKey(key.Verifier); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Check makes sure that the keys belong together: one name, each announced by
// the one before it, the signer's the last. Errors: ErrKeyMalformed,
// ErrUntrusted.
func (k *Keys) Check() error {
	if len(k.All) == 0 {
		return errors.Wrap(ErrKeyMalformed, "there is none")
	}
	list, err := k.Verifiers()
	if err != nil {
		return err
	}
	for i := 1; i < len(list); i++ {
		if list[i].Name() != list[0].Name() {
			return errors.Wrapf(ErrKeyMalformed, "keys of %q and of %q", list[0].Name(), list[i].Name())
		}
		if err := checkSwitch(k.All[i-1], k.All[i], list[i-1], list[i]); err != nil {
			return err
		}
	}
	last := list[len(list)-1]
	if k.Signer != nil && (k.Signer.Name() != last.Name() || k.Signer.KeyHash() != last.KeyHash()) {
		return errors.Wrapf(ErrKeyMalformed, "the signing key is not the last one, %s", k.Current())
	}
	return nil
}

// ParseKey reads a verifier key that has its only spelling. Error:
// ErrKeyMalformed.
func ParseKey(text string) (note.Verifier, error) {
	verifier, err := note.NewVerifier(text)
	if err != nil {
		// The text is not repeated: somebody may have taken the private key.
		return nil, errors.WithHint(errors.Mark(errors.Wrap(err, "tree: read a verifier key"), ErrKeyMalformed),
			"a verifier key looks like name+hash+base64; `ledgerd tree key` prints a ledger's")
	}
	hash, encoded, _ := strings.Cut(strings.TrimPrefix(text, verifier.Name()+"+"), "+")
	if hash != fmt.Sprintf("%08x", verifier.KeyHash()) || !isCanonicalBase64(encoded) {
		return nil, errors.Wrap(ErrKeyMalformed, "it is not spelt as it is printed")
	}
	return verifier, nil
}

// GenerateKey makes a key: the secret is note.NewSigner's, for a private file
// alone.
func GenerateKey(origin string) (secret, verifier string, err error) {
	if err := CheckOrigin(origin); err != nil {
		return "", "", err
	}
	secret, verifier, err = note.GenerateKey(rand.Reader, origin)
	return secret, verifier, errors.Wrap(err, "tree: make a key")
}

// switchTitle begins the note by which a key names the one after it.
const switchTitle = "ledgerd key switch"

// switchText is what the two keys sign:
//
//	ledgerd key switch
//	<the old verifier key>
//	<the new verifier key>
func switchText(from, to string) string { return fmt.Sprintf("%s\n%s\n%s\n", switchTitle, from, to) }

// SignSwitch announces a new key with the signatures of both.
func SignSwitch(old Key, oldSigner note.Signer, next string, nextSigner note.Signer, at time.Time) (Key, error) {
	signed, err := note.Sign(&note.Note{Text: switchText(old.Verifier, next)}, oldSigner, nextSigner)
	if err != nil {
		return Key{}, errors.Wrap(err, "tree: sign the key's switch")
	}
	return Key{Verifier: next, Since: at.UTC(), Switch: string(signed)}, nil
}

func checkSwitch(from, to Key, old, next note.Verifier) error {
	opened, err := note.Open([]byte(to.Switch), note.VerifierList(old, next))
	switch {
	case err != nil:
		return openError(err)
	case opened.Text != switchText(from.Verifier, to.Verifier) || len(opened.Sigs) != 2:
		return errors.Wrapf(ErrUntrusted, "the switch to %s is not what both keys signed", to.Verifier)
	}
	return nil
}
