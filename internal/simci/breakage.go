package simci

import "bytes"

// breakage makes one of a cell's documents something that is not strict JSON.
// The zero breakage leaves them alone.
type breakage struct {
	document int // 0 result, 1 host, 2 definition
	how      func(raw []byte) []byte
}

// breakages are what is seen in the wild.
var breakages = []func(raw []byte) []byte{
	func(raw []byte) []byte { return append([]byte("\ufeff"), raw...) },
	func(raw []byte) []byte { return insert(raw, `"score":NaN,`) },
	func(raw []byte) []byte { return insert(raw, `"seen":1,"seen":2,`) },
	func(raw []byte) []byte { return insert(raw, "\"title\":\"\xff\xfe\",") },
	func(raw []byte) []byte { return raw[:len(raw)-1] },
	func(raw []byte) []byte { return append(bytes.Clone(raw), "{}"...) },
}

// insert puts text behind the first brace.
func insert(raw []byte, text string) []byte {
	return append(append([]byte{'{'}, text...), raw[1:]...)
}

func newBreakage(r *random) breakage {
	return breakage{document: r.below(3), how: breakages[r.below(len(breakages))]}
}
