package events

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// strict parses a value of the body into a tree. It was copied out of the
// reader's buffer, so that the tree may keep it.
func (b *body) strict(value jsontext.Value) (strictjson.Value, *domain.Refusal) {
	tree, err := strictjson.Parse(value.Clone())
	if err != nil {
		return strictjson.Value{}, malformed(b.pointer(), "this is not strict JSON")
	}
	return tree, nil
}

// notStrict says what keeps a body from being strict JSON, in the words of the
// project's own parser: another library's would change with its releases, and
// records must not.
func notStrict(raw []byte) *domain.Refusal {
	if _, err := strictjson.Parse(raw); err != nil {
		return malformed("", "the body is not strict JSON: %v", err)
	}
	return malformed("", "the body is not strict JSON")
}
