// Package strictjson reads JSON that has one meaning only. Duplicate names at
// any depth, invalid UTF-8, a byte order mark, lone surrogates, trailing data
// and nesting beyond [MaxDepth] are errors, since two readers could take them
// for two different documents.
//
// A [Value] keeps JSON's types apart: "1" is not 1, 0 is not false and a
// missing member is not null.
package strictjson
