package policycel

import (
	"cmp"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// orderedMap is a map that an expression writes out. The library's own walks
// its keys in the order of a Go map, which is another one each time.
type orderedMap struct {
	traits.Mapper
	keys keyList // sorted
}

// Iterator walks the keys in their order.
func (o *orderedMap) Iterator() traits.Iterator {
	return &listIterator{list: o.keys, size: len(o.keys)}
}

// orderedLiteral evaluates a map that is written out.
type orderedLiteral struct{ interpreter.InterpretableV2 }

// Exec is the library's evaluation.
func (o orderedLiteral) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	result := o.InterpretableV2.Exec(frame)
	literal, isMap := result.(traits.Mapper)
	if !isMap {
		return result // a member had no value
	}
	sorted := &orderedMap{Mapper: literal}
	for walk := literal.Iterator(); walk.HasNext() == types.True; {
		sorted.keys = append(sorted.keys, walk.Next())
	}
	slices.SortFunc(sorted.keys, compareKeys)
	return sorted
}

// Eval is for callers without a frame.
func (o orderedLiteral) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, o.Exec)
}

// compareKeys orders by type, then by value; texts by code points.
func compareKeys(a, b ref.Val) int {
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	switch a := a.(type) {
	case types.Bool:
		if a == b.(types.Bool) {
			return 0
		}
		if !a {
			return -1
		}
		return 1
	case types.Int:
		return cmp.Compare(a, b.(types.Int))
	case types.Uint:
		return cmp.Compare(a, b.(types.Uint))
	case types.Double:
		return cmp.Compare(a, b.(types.Double))
	case types.String:
		return cmp.Compare(a, b.(types.String))
	}
	return 0
}

func rank(v ref.Val) int {
	switch v.(type) {
	case types.Bool:
		return 0
	case types.Int:
		return 1
	case types.Uint:
		return 2
	case types.Double:
		return 3
	case types.String:
		return 4
	}
	return 5
}
