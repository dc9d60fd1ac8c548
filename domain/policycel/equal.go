package policycel

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// equal compares as CEL does: numbers by value, whatever their types; lists and
// objects whole. Each element is paid for before it is compared, since lists
// that an expression nests into each other are larger than what made them.
func equal(a, b ref.Val, m *meter) bool {
	switch a := a.(type) {
	case types.String:
		m.charge(len(a) / bytesScanned)
	case types.Bytes:
		m.charge(len(a) / bytesScanned)
	case traits.Lister:
		other, isList := b.(traits.Lister)
		return isList && equalLists(a, other, m)
	case traits.Mapper:
		other, isMap := b.(traits.Mapper)
		return isMap && equalMaps(a, other, m)
	}
	return types.Equal(a, b) == types.True
}

func equalLists(a, b traits.Lister, m *meter) bool {
	if a.Size() != b.Size() {
		return false
	}
	for x, y := a.Iterator(), b.Iterator(); x.HasNext() == types.True; {
		m.charge(priceElement)
		if !equal(x.Next(), y.Next(), m) {
			return false
		}
	}
	return true
}

func equalMaps(a, b traits.Mapper, m *meter) bool {
	if a.Size() != b.Size() {
		return false
	}
	for keys := a.Iterator(); keys.HasNext() == types.True; {
		m.charge(priceElement)
		key := keys.Next()
		other, found := b.Find(key)
		if !found || !equal(a.Get(key), other, m) {
			return false
		}
	}
	return true
}

// contains looks for an element in a list, and for a key in a map.
func contains(in, wanted ref.Val, m *meter) ref.Val {
	switch in := in.(type) {
	case traits.Mapper:
		_, found := in.Find(wanted)
		return types.Bool(found)
	case traits.Lister:
		for elements := in.Iterator(); elements.HasNext() == types.True; {
			m.charge(priceElement)
			if equal(elements.Next(), wanted, m) {
				return types.True
			}
		}
		return types.False
	}
	return errNoOverload()
}

// concat joins two lists into a new one. The library joins them lazily, and
// walks a list that was doubled thirty times a billion times to tell its size.
func concat(a, b ref.Val, m *meter) ref.Val {
	left, isList := a.(traits.Lister)
	right, areLists := b.(traits.Lister)
	if !isList || !areLists {
		return errNoOverload()
	}
	if growing, ok := a.(traits.MutableLister); ok { // what map and filter collect in
		m.charge(priceElement)
		return growing.Add(right)
	}
	size := int(left.Size().(types.Int) + right.Size().(types.Int))
	m.charge(priceElement * size)
	joined := make([]ref.Val, 0, size)
	for _, list := range []traits.Lister{left, right} {
		for elements := list.Iterator(); elements.HasNext() == types.True; {
			joined = append(joined, elements.Next())
		}
	}
	return types.NewRefValList(types.DefaultTypeAdapter, joined)
}

func errNoOverload() ref.Val { return types.NewErr("no such overload") }
