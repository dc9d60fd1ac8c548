package policycel

import (
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// valueOf shows a JSON value to expressions, without a copy. What is not there
// is null. Numbers are doubles.
func valueOf(v strictjson.Value, m *meter) ref.Val {
	switch v.Kind() {
	case strictjson.Bool:
		flag, _ := v.Bool()
		return types.Bool(flag)
	case strictjson.Number:
		n, _ := v.Number()
		return types.Double(n + 0) // -0 is 0
	case strictjson.String:
		text, _ := v.Text()
		return types.String(text)
	case strictjson.Array:
		return &array{elements: v.Elements(), meter: m}
	case strictjson.Object:
		return &object{value: v, meter: m}
	default:
		return types.NullValue
	}
}

// errNoNative is the answer to a library that wants a Go value. Expressions do
// not get here.
var errNoNative = errors.New("policycel: no native value")

// array is a JSON array.
type array struct {
	elements []strictjson.Value
	meter    *meter
}

func (a *array) Type() ref.Type                            { return types.ListType }
func (a *array) Value() any                                { return a }
func (a *array) ConvertToNative(reflect.Type) (any, error) { return nil, errNoNative }
func (a *array) ConvertToType(to ref.Type) ref.Val         { return convert(a, types.ListType, to) }
func (a *array) Equal(other ref.Val) ref.Val               { return types.Bool(equal(a, other, a.meter)) }
func (a *array) Size() ref.Val                             { return types.Int(len(a.elements)) }
func (a *array) Add(other ref.Val) ref.Val                 { return concat(a, other, a.meter) }
func (a *array) Contains(element ref.Val) ref.Val          { return contains(a, element, a.meter) }
func (a *array) Iterator() traits.Iterator                 { return &listIterator{list: a, size: len(a.elements)} }

// at gives an element that an iterator comes to.
func (a *array) at(i int) ref.Val {
	a.meter.charge(priceElement)
	return valueOf(a.elements[i], a.meter)
}

func (a *array) Get(index ref.Val) ref.Val {
	i, ok := indexOf(index)
	if !ok || i < 0 || i >= len(a.elements) {
		return types.NewErr("no such index")
	}
	return valueOf(a.elements[i], a.meter)
}

// indexOf reads an index. A JSON number is a double, and may be one.
func indexOf(v ref.Val) (int, bool) {
	switch n := v.(type) {
	case types.Int:
		return int(n), true
	case types.Uint:
		return int(min(n, strictjson.MaxSafeInteger)), true
	case types.Double:
		i, ok := strictjson.NumberValue(float64(n)).SafeInteger()
		return int(i), ok
	}
	return 0, false
}

// object is a JSON object.
type object struct {
	value strictjson.Value
	meter *meter
}

func (o *object) Type() ref.Type                            { return types.MapType }
func (o *object) Value() any                                { return o }
func (o *object) ConvertToNative(reflect.Type) (any, error) { return nil, errNoNative }
func (o *object) ConvertToType(to ref.Type) ref.Val         { return convert(o, types.MapType, to) }
func (o *object) Equal(other ref.Val) ref.Val               { return types.Bool(equal(o, other, o.meter)) }
func (o *object) Size() ref.Val                             { return types.Int(o.value.Len()) }

// Find gives a member.
func (o *object) Find(key ref.Val) (ref.Val, bool) {
	name, isText := key.(types.String)
	if !isText {
		return nil, false
	}
	o.meter.charge(o.value.Len() / namesScanned)
	member := o.value.Get(string(name))
	if !member.Defined() {
		return nil, false
	}
	return valueOf(member, o.meter), true
}

func (o *object) Contains(key ref.Val) ref.Val {
	_, found := o.Find(key)
	return types.Bool(found)
}

func (o *object) Get(key ref.Val) ref.Val {
	if member, found := o.Find(key); found {
		return member
	}
	return types.NewErr("no such key")
}

// Iterator walks the names in code-point order, which is the order of their
// bytes.
func (o *object) Iterator() traits.Iterator {
	o.meter.charge(priceSorted * o.value.Len())
	names := make([]string, 0, o.value.Len())
	for name := range o.value.Members() {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	keys := make([]ref.Val, len(names))
	for i, name := range names {
		keys[i] = types.String(name)
	}
	return &listIterator{list: keyList(keys), size: len(keys)}
}

// convert is a value's conversion to another type, as type() and dyn() have it.
func convert(v ref.Val, own, to ref.Type) ref.Val {
	switch to {
	case own:
		return v
	case types.TypeType:
		return own.(ref.Val)
	}
	return types.NewErr("no such conversion")
}

// indexed is what an iterator walks.
type indexed interface{ at(i int) ref.Val }

type keyList []ref.Val

func (k keyList) at(i int) ref.Val { return k[i] }

// listIterator walks elements by their index.
type listIterator struct {
	list indexed
	size int
	next int
}

func (l *listIterator) HasNext() ref.Val { return types.Bool(l.next < l.size) }

func (l *listIterator) Next() ref.Val {
	if l.next >= l.size {
		return nil
	}
	element := l.list.at(l.next)
	l.next++
	return element
}

func (l *listIterator) Type() ref.Type                            { return types.IteratorType }
func (l *listIterator) Value() any                                { return nil }
func (l *listIterator) Equal(ref.Val) ref.Val                     { return types.False }
func (l *listIterator) ConvertToType(ref.Type) ref.Val            { return types.NewErr("no such conversion") }
func (l *listIterator) ConvertToNative(reflect.Type) (any, error) { return nil, errNoNative }
