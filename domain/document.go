package domain

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// Document is one of a cell's three documents, hashed and parsed. What is
// wrong with it is kept until the gates ask.
type Document struct {
	path    string
	claimed string // what the producer says the digest is
	actual  string // lower hex SHA-256 of the bytes
	value   strictjson.Value
	err     *strictjson.Error // nil when value is what the bytes hold
}

// ReadDocument hashes raw and parses it. claimedSHA256 is the producer's word,
// and is only compared. raw is not kept.
func ReadDocument(path string, raw []byte, claimedSHA256 string) Document {
	digest := sha256.Sum256(raw)
	d := Document{path: path, claimed: claimedSHA256, actual: hex.EncodeToString(digest[:])}
	value, err := strictjson.Parse(raw)
	if err != nil && !errors.As(err, &d.err) {
		d.err = &strictjson.Error{Problem: strictjson.ProblemSyntax}
	}
	d.value = value
	return d
}

// maxDocumentPathBytes bounds a document's path, so that a record holds it whole.
const maxDocumentPathBytes = MaxStringBytes

// isObject reports whether the bytes are a strict JSON object.
func (d *Document) isObject() bool { return d.err == nil && d.value.Kind() == strictjson.Object }

// gateDocument holds gates 5 to 8, in this order, for the document called name.
func gateDocument(name string, d *Document, prefix string) *Refusal {
	switch {
	case !retained(d.path, prefix):
		return refuse(ReasonDocumentPathNotRetained, "/"+name+"/path", fmt.Sprintf(
			"the %s's path %s must lie under %s, without .. or a backslash, in at most %d bytes; publish what the CI retained",
			name, quote(d.path), quote(prefix), maxDocumentPathBytes))
	case !isDigest(d.claimed):
		return refuse(ReasonDocumentDigestMismatch, "/"+name+"/sha256", fmt.Sprintf(
			"the %s's sha256 must be 64 lower hex digits and is %s", name, quote(d.claimed)))
	case d.claimed != d.actual:
		return refuse(ReasonDocumentDigestMismatch, "/"+name+"/sha256", fmt.Sprintf(
			"the %s's bytes have SHA-256 %s and not %s: they changed after they were hashed", name, d.actual, d.claimed))
	case d.err != nil:
		return refuse(ReasonDocumentNotJSON, "/"+name, fmt.Sprintf("the %s is not strict JSON: %s", name, d.err))
	case d.value.Kind() != strictjson.Object:
		return refuse(ReasonDocumentNotObject, "/"+name, fmt.Sprintf(
			"the %s must be a JSON object and is %s", name, d.value.Kind()))
	}
	return nil
}

// retained reports whether path lies in the folder that the policy keeps
// results in.
func retained(path, prefix string) bool {
	if len(path) > maxDocumentPathBytes || strings.Contains(path, `\`) || !strings.HasPrefix(path, folder(prefix)) {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == ".." {
			return false
		}
	}
	return true
}

// folder ends a prefix with a slash: "results" keeps nothing in "results-old".
func folder(prefix string) string {
	return strings.TrimSuffix(prefix, "/") + "/"
}
