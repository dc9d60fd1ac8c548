package canonicaljson

import (
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendString appends s as JSON.stringify quotes it. Bytes that are not UTF-8
// become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error says only that s is not UTF-8
	return dst
}

// From smallestPlain up to, but without, smallestLarge a number is printed
// without an exponent.
const (
	smallestPlain = 1e-6
	smallestLarge = 1e21
)

// AppendNumber appends n as JSON.stringify prints it: the shortest decimal
// that reads back as n, -0 as 0, and null for what is not finite.
func AppendNumber(dst []byte, n float64) []byte {
	magnitude := math.Abs(n)
	switch {
	case n == 0:
		return append(dst, '0')
	case math.IsInf(n, 0) || math.IsNaN(n):
		return append(dst, "null"...)
	case magnitude >= smallestPlain && magnitude < smallestLarge:
		return strconv.AppendFloat(dst, n, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, n, 'e', -1, 64)
	// Go writes an exponent of one digit as two: 1e-07.
	if sign, tens := len(dst)-3, len(dst)-2; dst[tens] == '0' && (dst[sign] == '-' || dst[sign] == '+') {
		dst = append(dst[:tens], dst[tens+1])
	}
	return dst
}
