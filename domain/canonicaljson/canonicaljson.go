package canonicaljson

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// hashPrefix says which digest it is.
const hashPrefix = "sha256:"

// Append appends v's canonical form to dst. A value that is undefined, or a
// number beyond a double, prints null.
//
// An object's members come in this order: names that JavaScript takes for an
// array index first, by number, then the others as the root locale collates
// them. Names that collate equal keep the order they were written in.
func Append(dst []byte, v strictjson.Value) []byte {
	switch v.Kind() {
	case strictjson.Bool:
		if v.IsTrue() {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case strictjson.Number:
		n, _ := v.Number()
		return AppendNumber(dst, n)
	case strictjson.String:
		s, _ := v.Text()
		return AppendString(dst, s)
	case strictjson.Array:
		return appendArray(dst, v)
	case strictjson.Object:
		return appendObject(dst, v)
	default:
		return append(dst, "null"...)
	}
}

func appendArray(dst []byte, v strictjson.Value) []byte {
	dst = append(dst, '[')
	for i, element := range v.Elements() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = Append(dst, element)
	}
	return append(dst, ']')
}

func appendObject(dst []byte, v strictjson.Value) []byte {
	dst = append(dst, '{')
	for i, m := range sorted(v) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, m.name), ':')
		dst = Append(dst, m.value)
	}
	return append(dst, '}')
}

// Hash is "sha256:" and the lower hex digest of v's canonical form.
func Hash(v strictjson.Value) string {
	sum := sha256.Sum256(Append(nil, v))
	return hashPrefix + hex.EncodeToString(sum[:])
}
