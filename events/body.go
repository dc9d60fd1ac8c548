package events

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// body reads structs from a body that [strictjson.Parse] read, by tables of
// members. It knows where it is, so that a refusal names the place as a JSON
// Pointer.
type body struct {
	value   strictjson.Value // where it is
	path    []step
	scratch []byte // a document's bytes, which nobody keeps
}

// step is one token of a JSON Pointer.
type step struct {
	name  string
	index int // within an array; -1 for a name
}

// member is a field of an object that T is read from. Its read takes the
// body's value, or refuses it.
type member[T any] struct {
	name     string
	optional bool
	read     func(b *body, into *T) *domain.Refusal
}

// readBody reads raw, a strict JSON object, into a T.
func readBody[T any](raw []byte, into *T, members []member[T]) *domain.Refusal {
	value, err := strictjson.Parse(raw)
	if err != nil {
		return malformed("", "the body is not strict JSON: %v", err)
	}
	return object(&body{value: value, path: make([]step, 0, usualDepth)}, into, members)
}

// usualDepth is room for the path to most values.
const usualDepth = 8

// at reads a value within the body's.
func (b *body) at(s step, value strictjson.Value, read func() *domain.Refusal) *domain.Refusal {
	outer := b.value
	b.path, b.value = append(b.path, s), value
	if refusal := read(); refusal != nil {
		return refusal
	}
	b.path, b.value = b.path[:len(b.path)-1], outer
	return nil
}

// object reads an object. Names are exact; unknown ones and missing ones that
// are not optional are refused.
func object[T any](b *body, into *T, members []member[T]) *domain.Refusal {
	if refusal := b.want(strictjson.Object); refusal != nil {
		return refusal
	}
	for name, value := range b.value.Members() {
		i := slices.IndexFunc(members, func(m member[T]) bool { return m.name == name })
		refusal := b.at(step{name: name, index: -1}, value, func() *domain.Refusal {
			if i < 0 {
				return malformed(b.pointer(), "%s is no known field here", excerpt(name))
			}
			return members[i].read(b, into)
		})
		if refusal != nil {
			return refusal
		}
	}
	for i := range members {
		if name := members[i].name; !members[i].optional && !b.value.Get(name).Defined() {
			return malformed(b.pointer()+"/"+name, "%s is missing", name)
		}
	}
	return nil
}

// list reads an array, an element at a time.
func (b *body) list(read func(index int) *domain.Refusal) *domain.Refusal {
	if refusal := b.want(strictjson.Array); refusal != nil {
		return refusal
	}
	for i, element := range b.value.Elements() {
		if refusal := b.at(step{index: i}, element, func() *domain.Refusal { return read(i) }); refusal != nil {
			return refusal
		}
	}
	return nil
}

// elements reads an array of objects.
func elements[T any](b *body, into *[]T, members []member[T]) *domain.Refusal {
	*into = make([]T, b.value.Len())
	return b.list(func(i int) *domain.Refusal { return object(b, &(*into)[i], members) })
}

// texts reads an array of strings.
func (b *body) texts(into *[]string) *domain.Refusal {
	*into = make([]string, b.value.Len())
	return b.list(func(i int) *domain.Refusal { return b.text(&(*into)[i]) })
}

// integers reads an array of integers.
func (b *body) integers(into *[]int64) *domain.Refusal {
	*into = make([]int64, b.value.Len())
	return b.list(func(i int) *domain.Refusal { return b.integer(&(*into)[i]) })
}

var withArticle = map[strictjson.Kind]string{
	strictjson.Null: "null", strictjson.Bool: "a boolean", strictjson.Number: "a number",
	strictjson.String: "a string", strictjson.Array: "an array", strictjson.Object: "an object",
}

// want refuses a value of another kind.
func (b *body) want(kind strictjson.Kind) *domain.Refusal {
	if b.value.Kind() == kind {
		return nil
	}
	return malformed(b.pointer(), "it must be %s and is %s", withArticle[kind], withArticle[b.value.Kind()])
}

// text reads a string.
func (b *body) text(into *string) *domain.Refusal {
	*into, _ = b.value.Text()
	return b.want(strictjson.String)
}

// bytes reads a string as the bytes that it stands for, never nil. They are
// valid until the next call.
func (b *body) bytes(into *[]byte) *domain.Refusal {
	text, _ := b.value.Text()
	if b.scratch == nil {
		b.scratch = make([]byte, 0, max(usualDocumentBytes, len(text)))
	}
	b.scratch = append(b.scratch[:0], text...)
	*into = b.scratch
	return b.want(strictjson.String)
}

// usualDocumentBytes is room for most documents.
const usualDocumentBytes = 2 << 10

// base64 reads bytes in standard base64 with padding.
func (b *body) base64(into *[]byte) *domain.Refusal {
	if refusal := b.bytes(into); refusal != nil {
		return refusal
	}
	if bytes.ContainsAny(*into, "\r\n") { // the library skips them
		return malformed(b.pointer(), "base64 has a line break")
	}
	decoded, err := base64.StdEncoding.Strict().AppendDecode([]byte{}, *into)
	if err != nil {
		return malformed(b.pointer(), "this is not standard base64 with padding")
	}
	*into = decoded
	return nil
}

// integer reads a number without a fraction that a double holds exactly.
func (b *body) integer(into *int64) *domain.Refusal {
	n, ok := b.value.SafeInteger()
	switch *into = n; {
	case ok:
		return nil
	case b.value.Kind() != strictjson.Number:
		return malformed(b.pointer(), "it must be an integer and is %s", withArticle[b.value.Kind()])
	default:
		return malformed(b.pointer(), "it must be an integer within ±(2^53 - 1)")
	}
}

// number reads a number that a double can hold.
func (b *body) number(into *float64) *domain.Refusal {
	n, ok := b.value.Finite()
	if *into = n; !ok && b.value.Kind() == strictjson.Number {
		return malformed(b.pointer(), "the number is too large")
	}
	return b.want(strictjson.Number)
}

// flag reads true or false.
func (b *body) flag(into *bool) *domain.Refusal {
	*into, _ = b.value.Bool()
	return b.want(strictjson.Bool)
}

// null reports whether it is null.
func (b *body) null() bool { return b.value.Kind() == strictjson.Null }

// bounds reads an array of two numbers.
func (b *body) bounds(into *domain.Range) *domain.Refusal {
	at, n := b.pointer(), 0
	refusal := b.list(func(i int) *domain.Refusal {
		if n++; n > len(into) {
			return malformed(at, "it must be two numbers and is more")
		}
		return b.number(&into[i])
	})
	if refusal == nil && n < len(into) {
		return malformed(at, "it must be two numbers and is %d", n)
	}
	return refusal
}

// lenientText reads a value that a gate will look at: anything but a string is
// the empty one.
func (b *body) lenientText(into *string) *domain.Refusal {
	*into, _ = b.value.Text()
	return nil
}

// lenientInteger reads a value that a gate will look at: anything but a safe
// integer is 0.
func (b *body) lenientInteger(into *int64) *domain.Refusal {
	*into, _ = b.value.SafeInteger()
	return nil
}

// pointer is the JSON Pointer to where the body is read.
func (b *body) pointer() string {
	var p strings.Builder
	for _, s := range b.path {
		p.WriteByte('/')
		if s.index >= 0 {
			p.WriteString(strconv.Itoa(s.index))
			continue
		}
		p.WriteString(pointerEscapes.Replace(s.name))
	}
	return p.String()
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// text is a member that must be a string.
func text[T any](name string, of func(*T) *string) member[T] {
	return member[T]{name: name, read: func(b *body, into *T) *domain.Refusal { return b.text(of(into)) }}
}

// optionalText is a member that is a string when it is there.
func optionalText[T any](name string, of func(*T) *string) member[T] {
	m := text(name, of)
	m.optional = true
	return m
}

// gatedText is a member that a gate will look at: no string is the empty one.
func gatedText[T any](name string, of func(*T) *string) member[T] {
	return member[T]{name: name, optional: true, read: func(b *body, into *T) *domain.Refusal { return b.lenientText(of(into)) }}
}

// said is a member that must be a string with something in it: who takes an
// import back or seals a campaign, and why, is what an auditor asks first.
func said[T any](name string, of func(*T) *string) member[T] {
	return member[T]{name: name, read: func(b *body, into *T) *domain.Refusal {
		refusal := b.text(of(into))
		if refusal == nil && strings.Trim(*of(into), " \t\r\n") == "" {
			return malformed(b.pointer(), "%s must not be blank", name)
		}
		return refusal
	}}
}
