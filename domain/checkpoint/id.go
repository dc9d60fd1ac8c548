package checkpoint

import (
	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// ErrID says that a text is no id.
var ErrID = errors.New("checkpoint: an id is one JSON value")

// ID is an id that the binding repeats as it was claimed and compares, but
// does not look into. A string is usual; any JSON value is possible, and so is
// none: the zero ID. IDs are equal when their canonical JSON is.
type ID struct {
	json string // canonical; "" when there is none
}

// NewID takes the id from a value.
func NewID(v strictjson.Value) ID {
	if !v.Defined() {
		return ID{}
	}
	return ID{json: string(canonicaljson.Append(nil, v))}
}

// Text gives an id that is a string; false for every other.
func (id ID) Text() (string, bool) {
	v, err := strictjson.Parse([]byte(id.json))
	if err != nil {
		return "", false
	}
	return v.Text()
}

// String is the id's JSON, for messages.
func (id ID) String() string { return id.json }

// Equal reports whether two ids are the same, as == does.
func (id ID) Equal(other ID) bool { return id == other }

// IsZero reports whether there is no id.
func (id ID) IsZero() bool { return id.json == "" }

// MarshalJSON prints the id as it was claimed; null when there is none.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.json == "" {
		return []byte("null"), nil
	}
	return []byte(id.json), nil
}

// UnmarshalJSON reads what MarshalJSON prints. Its error is ErrID.
func (id *ID) UnmarshalJSON(text []byte) error {
	v, err := strictjson.Parse(text)
	if err != nil {
		return errors.Mark(err, ErrID)
	}
	*id = NewID(v)
	return nil
}
