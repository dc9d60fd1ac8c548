package strictjson

import (
	"bytes"
	"strconv"
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
	if err := p.skip(); err != nil {
		return err
	}
	return p.end()
}

type parser struct {
	raw     []byte
	decoder *jsontext.Decoder
	names   map[string]string // names come again and again: one copy of each
}

// newParser looks at what can be told without reading: size, encoding, a mark.
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
	return &parser{raw: raw, decoder: jsontext.NewDecoder(bytes.NewBuffer(raw)), names: map[string]string{}}, nil
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
	token, err := p.decoder.ReadToken()
	if err != nil {
		return Value{}, p.classify(err)
	}
	switch token.Kind() {
	case 'n':
		return Value{kind: Null}, nil
	case 't', 'f':
		return Value{kind: Bool, flag: token.Bool()}, nil
	case '"':
		return Value{kind: String, text: token.String()}, nil
	case '0':
		n, _ := strconv.ParseFloat(token.String(), 64) // beyond a double: infinite, with an error
		return Value{kind: Number, number: n}, nil
	}
	if depth == MaxDepth {
		return Value{}, p.tooDeep()
	}
	if token.Kind() == '[' {
		return p.array(depth + 1)
	}
	return p.object(depth + 1)
}

func (p *parser) array(depth int) (Value, error) {
	c := &children{}
	for p.decoder.PeekKind() != ']' {
		element, err := p.value(depth)
		if err != nil {
			return Value{}, err
		}
		c.values = append(c.values, element)
	}
	return Value{kind: Array, children: c}, p.close()
}

func (p *parser) object(depth int) (Value, error) {
	c := &children{}
	for p.decoder.PeekKind() != '}' {
		name, err := p.name()
		if err != nil {
			return Value{}, err
		}
		member, err := p.value(depth)
		if err != nil {
			return Value{}, err
		}
		c.names = append(c.names, name)
		c.values = append(c.values, member)
	}
	return Value{kind: Object, children: c}, p.close()
}

func (p *parser) name() (string, error) {
	token, err := p.decoder.ReadToken()
	if err != nil {
		return "", p.classify(err)
	}
	name := token.String()
	if known, ok := p.names[name]; ok {
		return known, nil
	}
	p.names[name] = name
	return name, nil
}

func (p *parser) close() error {
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
	return &Error{Problem: ProblemDepth, Offset: p.decoder.InputOffset() - 1}
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
