// Package strictjson reads JSON that has one meaning only: documents, arrivals'
// bodies, policies and inputs are all read by [Parse]. Duplicate names at any
// depth, invalid UTF-8, a byte order mark, lone surrogates, trailing data and
// nesting beyond [MaxDepth] are errors, since two readers could take them for
// two different documents.
//
// A [Value] keeps JSON's types apart: "1" is not 1, 0 is not false and a
// missing member is not null.
//
// The library below (go-json-experiment's jsontext) reads the tokens. Its
// Unmarshal into any would lose the members' order, refuse 1e999, nest 10,000
// deep and word its errors itself, while records hold ours and must not change
// with a release. Parse takes 0.97 of Unmarshal's time and 6,003 allocations
// where that makes 15,013 (BenchmarkParse).
package strictjson
