package events

import (
	"bytes"
	"encoding/base64"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ledgerd/ledgerd/domain"
)

// body reads an arrival's body in one pass, by tables of members. It knows
// where it is, so that a refusal names the place as a JSON Pointer.
type body struct {
	raw     []byte
	source  bytes.Buffer
	decoder *jsontext.Decoder
	path    []step
	scratch []byte // a document's bytes, which nobody keeps
}

// step is one token of a JSON Pointer.
type step struct {
	name  string
	index int // within an array; -1 for a name
}

// member is a field of an object that T is read from. Its read is called where
// the value begins and reads all of it, or refuses.
type member[T any] struct {
	name     string
	optional bool
	read     func(b *body, into *T) *domain.Refusal
}

// bodies keeps decoders with their buffers.
var bodies = sync.Pool{New: func() any {
	return &body{decoder: jsontext.NewDecoder(bytes.NewReader(nil))}
}}

// readBody reads raw, a strict JSON object, into a T.
func readBody[T any](raw []byte, into *T, members []member[T]) *domain.Refusal {
	b := bodies.Get().(*body)
	defer b.release()
	b.raw = raw
	b.source = *bytes.NewBuffer(raw)
	b.decoder.Reset(&b.source)
	if refusal := object(b, into, members); refusal != nil {
		return refusal
	}
	if _, err := b.decoder.ReadToken(); err != io.EOF {
		return notStrict(raw) // something follows
	}
	return nil
}

// release lets go of the bytes that were read.
func (b *body) release() {
	b.decoder.Reset(bytes.NewReader(nil))
	if cap(b.scratch) > maxScratchBytes {
		b.scratch = nil
	}
	*b = body{decoder: b.decoder, path: b.path[:0], scratch: b.scratch}
	bodies.Put(b)
}

// object reads an object. Names are exact; unknown ones and missing ones that
// are not optional are refused. A name that comes twice is no strict JSON.
func object[T any](b *body, into *T, members []member[T]) *domain.Refusal {
	if refusal := b.begin('{', "an object"); refusal != nil {
		return refusal
	}
	var seen uint64 // a bit for each member
	for b.decoder.PeekKind() == '"' {
		name, err := b.decoder.ReadValue()
		if err != nil {
			return notStrict(b.raw)
		}
		i := find(members, name)
		if i < 0 {
			return b.unknown(unquoted(name))
		}
		seen |= 1 << i
		b.path = append(b.path, step{name: members[i].name, index: -1})
		if refusal := members[i].read(b, into); refusal != nil {
			return refusal
		}
		b.path = b.path[:len(b.path)-1]
	}
	if _, err := b.decoder.ReadToken(); err != nil {
		return notStrict(b.raw)
	}
	for i := range members {
		if seen&(1<<i) == 0 && !members[i].optional {
			return malformed(b.pointer()+"/"+members[i].name, "%s is missing", members[i].name)
		}
	}
	return nil
}

// find gives the index of the member with a quoted name, -1 when there is none.
func find[T any](members []member[T], quoted jsontext.Value) int {
	name := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(unquoted(quoted))
	}
	for i := range members {
		if members[i].name == string(name) {
			return i
		}
	}
	return -1
}

func (b *body) unknown(name string) *domain.Refusal {
	b.path = append(b.path, step{name: name, index: -1})
	return malformed(b.pointer(), "%s is no known field here", excerpt(name))
}

// list reads an array, an element at a time.
func (b *body) list(read func(index int) *domain.Refusal) *domain.Refusal {
	if refusal := b.begin('[', "an array"); refusal != nil {
		return refusal
	}
	for i := 0; ; i++ {
		switch b.decoder.PeekKind() {
		case ']':
			if _, err := b.decoder.ReadToken(); err != nil {
				return notStrict(b.raw)
			}
			return nil
		case 0:
			return notStrict(b.raw)
		}
		b.path = append(b.path, step{index: i})
		if refusal := read(i); refusal != nil {
			return refusal
		}
		b.path = b.path[:len(b.path)-1]
	}
}

// elements reads an array of objects.
func elements[T any](b *body, into *[]T, members []member[T]) *domain.Refusal {
	*into = []T{}
	return b.list(func(i int) *domain.Refusal {
		var zero T
		*into = append(*into, zero)
		return object(b, &(*into)[i], members)
	})
}

// texts reads an array of strings.
func (b *body) texts(into *[]string) *domain.Refusal {
	*into = []string{}
	return b.list(func(i int) *domain.Refusal {
		*into = append(*into, "")
		return b.text(&(*into)[i])
	})
}

// integers reads an array of integers.
func (b *body) integers(into *[]int64) *domain.Refusal {
	*into = []int64{}
	return b.list(func(i int) *domain.Refusal {
		*into = append(*into, 0)
		return b.integer(&(*into)[i])
	})
}

// begin reads the token that an object or array begins with.
func (b *body) begin(kind jsontext.Kind, what string) *domain.Refusal {
	if b.decoder.PeekKind() != kind {
		return b.wrongType(what)
	}
	if _, err := b.decoder.ReadToken(); err != nil {
		return notStrict(b.raw)
	}
	return nil
}

// value reads any value, as it is written. It is valid until the next read.
func (b *body) value() (jsontext.Value, *domain.Refusal) {
	value, err := b.decoder.ReadValue()
	if err != nil {
		return nil, notStrict(b.raw)
	}
	return value, nil
}

// text reads a string.
func (b *body) text(into *string) *domain.Refusal {
	if b.decoder.PeekKind() != '"' {
		return b.wrongType("a string")
	}
	value, refusal := b.value()
	if refusal == nil {
		*into = unquoted(value)
	}
	return refusal
}

const (
	// usualScratchBytes is room for most documents.
	usualScratchBytes = 16 << 10
	// maxScratchBytes bounds what is kept for the next body.
	maxScratchBytes = 1 << 20
)

// bytes reads a string as the bytes that it stands for, never nil. They are
// valid until the next call.
func (b *body) bytes(into *[]byte) *domain.Refusal {
	if b.decoder.PeekKind() != '"' {
		return b.wrongType("a string")
	}
	value, refusal := b.value()
	if refusal != nil {
		return refusal
	}
	if b.scratch == nil {
		b.scratch = make([]byte, 0, max(usualScratchBytes, len(value)))
	}
	// What was validated a moment ago unquotes without an error.
	b.scratch, _ = jsontext.AppendUnquote(b.scratch[:0], value)
	*into = b.scratch
	return nil
}

// base64 reads bytes in standard base64 with padding.
func (b *body) base64(into *[]byte) *domain.Refusal {
	if refusal := b.bytes(into); refusal != nil {
		return refusal
	}
	if bytes.ContainsAny(*into, "\r\n") { // the library skips them
		return malformed(b.pointer(), "base64 has a line break")
	}
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(*into)))
	n, err := base64.StdEncoding.Strict().Decode(decoded, *into)
	if err != nil {
		return malformed(b.pointer(), "this is not standard base64 with padding")
	}
	*into = decoded[:n]
	return nil
}

// integer reads a number without a fraction that a double holds exactly.
func (b *body) integer(into *int64) *domain.Refusal {
	if b.decoder.PeekKind() != '0' {
		return b.wrongType("an integer")
	}
	value, refusal := b.value()
	if refusal != nil {
		return refusal
	}
	n, ok := safeInteger(value)
	if !ok {
		return malformed(b.pointer(), "it must be an integer within ±(2^53 - 1)")
	}
	*into = n
	return nil
}

// number reads a number that a double can hold.
func (b *body) number(into *float64) *domain.Refusal {
	if b.decoder.PeekKind() != '0' {
		return b.wrongType("a number")
	}
	value, refusal := b.value()
	if refusal != nil {
		return refusal
	}
	n := double(value)
	if math.IsInf(n, 0) {
		return malformed(b.pointer(), "the number is too large")
	}
	*into = n
	return nil
}

// flag reads true or false.
func (b *body) flag(into *bool) *domain.Refusal {
	if kind := b.decoder.PeekKind(); kind != 't' && kind != 'f' {
		return b.wrongType("true or false")
	}
	value, refusal := b.value()
	if refusal == nil {
		*into = value.Kind() == 't'
	}
	return refusal
}

// null reports whether null comes next.
func (b *body) null() bool { return b.decoder.PeekKind() == 'n' }

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
	if b.decoder.PeekKind() == '"' {
		return b.text(into)
	}
	return b.skip()
}

// lenientInteger reads a value that a gate will look at: anything but a safe
// integer is 0.
func (b *body) lenientInteger(into *int64) *domain.Refusal {
	if b.decoder.PeekKind() != '0' {
		return b.skip()
	}
	value, refusal := b.value()
	if refusal == nil {
		*into, _ = safeInteger(value)
	}
	return refusal
}

// skip reads a value and drops it. It must be strict JSON all the same.
func (b *body) skip() *domain.Refusal {
	value, refusal := b.value()
	if refusal == nil && (value.Kind() == '{' || value.Kind() == '[') {
		_, refusal = b.strict(value)
	}
	return refusal
}

func (b *body) wrongType(want string) *domain.Refusal {
	var found string
	switch b.decoder.PeekKind() {
	case 0:
		return notStrict(b.raw)
	case 'n':
		found = "null"
	case 't', 'f':
		found = "a boolean"
	case '"':
		found = "a string"
	case '0':
		found = "a number"
	case '{':
		found = "an object"
	case '[':
		found = "an array"
	default: // the closing delimiter of another kind
		return notStrict(b.raw)
	}
	return malformed(b.pointer(), "it must be %s and is %s", want, found)
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

// unquoted gives the string that a validated quoted one stands for.
func unquoted(value jsontext.Value) string {
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	text, _ := jsontext.AppendUnquote(make([]byte, 0, len(inner)), value)
	return string(text)
}

// double is the double that a JSON number stands for, infinite when it is too
// large.
func double(value jsontext.Value) float64 {
	n, _ := strconv.ParseFloat(string(value), 64) // an infinity comes with an error
	return n
}

// maxSafeInteger is the largest integer that a double tells from its neighbours.
const maxSafeInteger = 1<<53 - 1

func safeInteger(value jsontext.Value) (int64, bool) {
	n := double(value)
	if n != math.Trunc(n) || math.Abs(n) > maxSafeInteger {
		return 0, false
	}
	return int64(n), true
}

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
