package strictjson

import "math"

// Kind is a JSON type.
type Kind uint8

// The kinds. Undefined is a value that is not there.
const (
	Undefined Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// String names the kind as JSON does.
func (k Kind) String() string {
	return [...]string{"undefined", "null", "boolean", "number", "string", "array", "object"}[k]
}

// Value is a parsed value. The zero Value is undefined: what a missing member
// is. Values are shared, never changed.
type Value struct {
	kind     Kind
	flag     bool    // of a Bool
	number   float64 // of a Number
	text     string  // of a String
	children *children
}

// children are the elements of an array or the members of an object.
type children struct {
	names  []string // of an object, parallel to values
	values []Value
}

// Kind is the value's type.
func (v Value) Kind() Kind { return v.kind }

// Defined reports whether the value is there at all.
func (v Value) Defined() bool { return v.kind != Undefined }

// Get gives a member of an object: undefined when there is none, or when v is
// no object.
func (v Value) Get(name string) Value {
	if v.kind != Object {
		return Value{}
	}
	for i, n := range v.children.names {
		if n == name {
			return v.children.values[i]
		}
	}
	return Value{}
}

// At follows members into nested objects.
func (v Value) At(names ...string) Value {
	for _, name := range names {
		v = v.Get(name)
	}
	return v
}

// Len counts elements or members; 0 for everything else.
func (v Value) Len() int {
	if v.children == nil {
		return 0
	}
	return len(v.children.values)
}

// Elements gives an array's elements in order, nil for everything else.
func (v Value) Elements() []Value {
	if v.kind != Array {
		return nil
	}
	return v.children.values
}

// Members ranges over an object's members in the order they were written.
func (v Value) Members() func(yield func(string, Value) bool) {
	return func(yield func(string, Value) bool) {
		if v.kind != Object {
			return
		}
		for i, name := range v.children.names {
			if !yield(name, v.children.values[i]) {
				return
			}
		}
	}
}

// Text gives a string; false for everything else.
func (v Value) Text() (string, bool) { return v.text, v.kind == String }

// Number gives a number; false for everything else. One that is too large for
// a double is infinite.
func (v Value) Number() (float64, bool) { return v.number, v.kind == Number }

// Finite gives a number that a double holds; false for everything else.
func (v Value) Finite() (float64, bool) {
	return v.number, v.kind == Number && !math.IsInf(v.number, 0)
}

// Bool gives a boolean; ok is false for everything else.
func (v Value) Bool() (flag, ok bool) { return v.flag, v.kind == Bool }

// MaxSafeInteger is the largest integer that a double tells from its
// neighbours.
const MaxSafeInteger = 1<<53 - 1

// SafeInteger gives a number that is an integer within ±MaxSafeInteger,
// however it is written; false for everything else.
func (v Value) SafeInteger() (int64, bool) {
	if v.kind != Number || v.number != math.Trunc(v.number) || math.Abs(v.number) > MaxSafeInteger {
		return 0, false
	}
	return int64(v.number), true
}

// IsText reports whether v is exactly this string.
func (v Value) IsText(s string) bool { return v.kind == String && v.text == s }

// IsNumber reports whether v is exactly this number.
func (v Value) IsNumber(n float64) bool { return v.kind == Number && v.number == n }

// IsFalse reports whether v is false: neither missing, nor null, nor 0.
func (v Value) IsFalse() bool { return v.kind == Bool && !v.flag }

// IsTrue reports whether v is true.
func (v Value) IsTrue() bool { return v.kind == Bool && v.flag }

// Equal reports whether two values are the same JSON: types are exact, numbers
// compare by value, members in any order. Undefined equals only undefined.
func Equal(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case Bool:
		return a.flag == b.flag
	case Number:
		return a.number == b.number
	case String:
		return a.text == b.text
	case Array:
		return equalElements(a.children.values, b.children.values)
	case Object:
		return equalMembers(a, b)
	default:
		return true
	}
}

func equalElements(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalMembers(a, b Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	others := make(map[string]Value, b.Len())
	for name, value := range b.Members() {
		others[name] = value
	}
	for name, value := range a.Members() {
		if !Equal(value, others[name]) { // a missing one is undefined, and no member is
			return false
		}
	}
	return true
}

// Identical reports whether two values are the same by JavaScript's ===:
// scalars by type and value, undefined with undefined; an array or object is
// identical to nothing that was parsed apart from it.
func Identical(a, b Value) bool {
	if a.kind == Array || a.kind == Object {
		return a.kind == b.kind && a.children == b.children
	}
	return Equal(a, b)
}

// TextValue makes a string.
func TextValue(s string) Value { return Value{kind: String, text: s} }

// NumberValue makes a number.
func NumberValue(n float64) Value { return Value{kind: Number, number: n} }

// BoolValue makes a boolean.
func BoolValue(flag bool) Value { return Value{kind: Bool, flag: flag} }

// NullValue makes null.
func NullValue() Value { return Value{kind: Null} }

// Member is a name and its value.
type Member struct {
	Name  string
	Value Value
}

// ObjectValue makes an object; members that are undefined are left out.
func ObjectValue(members ...Member) Value {
	c := &children{}
	for _, m := range members {
		if m.Value.Defined() {
			c.names = append(c.names, m.Name)
			c.values = append(c.values, m.Value)
		}
	}
	return Value{kind: Object, children: c}
}

// ArrayValue makes an array.
func ArrayValue(elements ...Value) Value {
	return Value{kind: Array, children: &children{values: elements}}
}
