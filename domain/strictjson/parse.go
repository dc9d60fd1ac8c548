package strictjson

import (
	"bytes"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a text.
const (
	// MaxDepth is how deep arrays and objects may nest.
	MaxDepth = 128
	// MaxBytes is how large a text may be.
	MaxBytes = 32 << 20
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Parse reads the one value that raw holds. Its errors are *[Error].
func Parse(raw []byte) (Value, error) {
	p, err := newParser(raw)
	if err != nil {
		return Value{}, err
	}
	defer p.release()
	value, err := p.value(0)
	if err != nil {
		return Value{}, err
	}
	return value, p.end()
}

// Check reads raw like [Parse], but keeps nothing of it.
func Check(raw []byte) error {
	p, err := newParser(raw)
	if err != nil {
		return err
	}
	defer p.release()
	if err := p.skip(); err != nil {
		return err
	}
	return p.end()
}

// parser reads one text. Parsers are kept, with their decoder's buffers and the
// names they have seen: documents of one kind have the same names again and
// again.
type parser struct {
	raw     []byte
	source  bytes.Buffer
	decoder *jsontext.Decoder
	names   map[string]string
	text    []byte   // for strings with escapes, while they are read
	open    []Member // children of the arrays and objects that are being read
}

// What a parser keeps for the next text is bounded: names, bytes of the longest
// string with escapes, and children.
const (
	maxNames     = 1024
	maxTextBytes = 1 << 20
	maxOpen      = 1024
)

var parsers = sync.Pool{New: func() any {
	return &parser{decoder: jsontext.NewDecoder(bytes.NewReader(nil)), names: map[string]string{}}
}}

// newParser looks at what can be told without reading: size, encoding, a mark.
// The caller releases what it gets.
func newParser(raw []byte) (*parser, error) {
	switch {
	case len(raw) > MaxBytes:
		return nil, &Error{Problem: ProblemSize, Offset: MaxBytes}
	case bytes.HasPrefix(raw, byteOrderMark):
		return nil, &Error{Problem: ProblemBOM}
	case !utf8.Valid(raw):
		return nil, &Error{Problem: ProblemUTF8, Offset: firstInvalid(raw)}
	case len(bytes.TrimLeft(raw, " \t\r\n")) == 0:
		return nil, &Error{Problem: ProblemEmpty}
	}
	p := parsers.Get().(*parser)
	p.raw = raw
	p.source = *bytes.NewBuffer(raw) // the decoder reads a buffer in place
	p.decoder.Reset(&p.source)
	return p, nil
}

// release lets go of the text that was read.
func (p *parser) release() {
	p.decoder.Reset(bytes.NewReader(nil))
	p.raw, p.source = nil, bytes.Buffer{}
	if len(p.names) > maxNames {
		clear(p.names)
	}
	if cap(p.text) > maxTextBytes {
		p.text = nil
	}
	clear(p.open) // empty but after an error
	if p.open = p.open[:0]; cap(p.open) > maxOpen {
		p.open = nil
	}
	parsers.Put(p)
}

func firstInvalid(raw []byte) int64 {
	offset := 0
	for offset < len(raw) {
		r, size := utf8.DecodeRune(raw[offset:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		offset += size
	}
	return int64(offset)
}

// value reads a value that has depth arrays and objects around it.
func (p *parser) value(depth int) (Value, error) {
	switch p.decoder.PeekKind() {
	case '[':
		if depth == MaxDepth {
			return Value{}, p.tooDeep()
		}
		return p.array(depth + 1)
	case '{':
		if depth == MaxDepth {
			return Value{}, p.tooDeep()
		}
		return p.object(depth + 1)
	}
	raw, err := p.decoder.ReadValue()
	if err != nil {
		return Value{}, p.classify(err)
	}
	switch raw.Kind() {
	case '"':
		return Value{kind: String, text: p.unquoted(raw)}, nil
	case '0':
		n, _ := strconv.ParseFloat(string(raw), 64) // beyond a double: infinite, with an error
		return Value{kind: Number, number: n}, nil
	case 'n':
		return Value{kind: Null}, nil
	default:
		return Value{kind: Bool, flag: raw.Kind() == 't'}, nil
	}
}

// unquoted gives the string that a valid quoted one stands for.
func (p *parser) unquoted(quoted jsontext.Value) string {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	p.text, _ = jsontext.AppendUnquote(p.text[:0], quoted) // it was validated a moment ago
	return string(p.text)
}

func (p *parser) array(depth int) (Value, error) {
	if err := p.token(); err != nil {
		return Value{}, err
	}
	begin := len(p.open)
	for p.decoder.PeekKind() != ']' {
		element, err := p.value(depth)
		if err != nil {
			return Value{}, err
		}
		p.open = append(p.open, Member{Value: element})
	}
	return Value{kind: Array, children: p.close(begin, false)}, p.token()
}

func (p *parser) object(depth int) (Value, error) {
	if err := p.token(); err != nil {
		return Value{}, err
	}
	begin := len(p.open)
	for p.decoder.PeekKind() != '}' {
		name, err := p.name()
		if err != nil {
			return Value{}, err
		}
		member, err := p.value(depth)
		if err != nil {
			return Value{}, err
		}
		p.open = append(p.open, Member{Name: name, Value: member})
	}
	return Value{kind: Object, children: p.close(begin, true)}, p.token()
}

// close takes the children of an array or object, from begin on, into slices
// of their size.
func (p *parser) close(begin int, named bool) *children {
	members := p.open[begin:]
	c := &children{}
	if len(members) > 0 {
		c.values = make([]Value, len(members))
	}
	if named && len(members) > 0 {
		c.names = make([]string, len(members))
	}
	for i, m := range members {
		c.values[i] = m.Value
		if named {
			c.names[i] = m.Name
		}
	}
	clear(members)
	p.open = p.open[:begin]
	return c
}

func (p *parser) name() (string, error) {
	quoted, err := p.decoder.ReadValue()
	if err != nil {
		return "", p.classify(err)
	}
	if known, ok := p.names[string(quoted)]; ok {
		return known, nil
	}
	name := p.unquoted(quoted)
	p.names[string(quoted)] = name
	return name, nil
}

// token reads a bracket.
func (p *parser) token() error {
	if _, err := p.decoder.ReadToken(); err != nil {
		return p.classify(err)
	}
	return nil
}

// skip reads one value and drops it.
func (p *parser) skip() error {
	for {
		if _, err := p.decoder.ReadToken(); err != nil {
			return p.classify(err)
		}
		switch depth := p.decoder.StackDepth(); {
		case depth == 0:
			return nil
		case depth > MaxDepth:
			return p.tooDeep()
		}
	}
}

// end makes sure that nothing follows the value.
func (p *parser) end() error {
	offset := p.decoder.InputOffset()
	rest := bytes.TrimLeft(p.raw[offset:], " \t\r\n")
	if len(rest) == 0 {
		return nil
	}
	return &Error{Problem: ProblemTrailing, Offset: int64(len(p.raw) - len(rest))}
}

func (p *parser) tooDeep() error {
	return &Error{Problem: ProblemDepth, Offset: p.decoder.InputOffset()}
}

// classify says a library's error in the words of this package. The library
// reports lone surrogates as a syntax error like others: the text at the
// offset tells.
func (p *parser) classify(err error) error {
	var syntactic *jsontext.SyntacticError
	if !errors.As(err, &syntactic) {
		return &Error{Problem: ProblemSyntax, Offset: int64(len(p.raw))}
	}
	e := &Error{Problem: ProblemSyntax, Offset: syntactic.ByteOffset, Pointer: string(syntactic.JSONPointer)}
	switch {
	case errors.Is(syntactic.Err, jsontext.ErrDuplicateName):
		e.Problem = ProblemDuplicateName
	case p.surrogateAt(syntactic.ByteOffset):
		e.Problem = ProblemSurrogate
	}
	return e
}

// surrogateAt reports whether an escape of a surrogate begins at the offset.
func (p *parser) surrogateAt(offset int64) bool {
	if offset < 0 || offset > int64(len(p.raw)) {
		return false
	}
	const escape = `\ud800`
	at := p.raw[offset:]
	if len(at) < len(escape) || at[0] != '\\' || at[1] != 'u' {
		return false
	}
	unit, err := strconv.ParseUint(string(at[2:len(escape)]), 16, 16)
	return err == nil && unit >= 0xd800 && unit <= 0xdfff
}
