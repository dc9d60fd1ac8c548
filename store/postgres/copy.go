package postgres

import (
	"encoding/binary"
	"io"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/ledgerd/ledgerd/store/internal/tables"
)

// add copies new rows. The driver's own encoding of a row costs more than
// folding its decision: it looks for a way to print each value anew.
func add[T, R any](w *writer, table *tables.Table[T, R], rows []T) {
	if w.err != nil || len(rows) == 0 {
		return
	}
	text := "COPY " + w.all.table(string(table.View)) + " (" + strings.Join(table.Columns, ", ") + ") FROM STDIN BINARY"
	_, err := w.tx.Conn().PgConn().CopyFrom(w.ctx, &copied[T, R]{table: table, rows: rows, encoded: appendCopyHeader(nil)}, text)
	w.err = errors.Wrapf(err, "copy %d rows into %s", len(rows), table.View)
}

// copied reads rows in the binary format of COPY.
type copied[T, R any] struct {
	table   *tables.Table[T, R]
	rows    []T    // that are not encoded yet
	ended   bool   // so is the end
	encoded []byte // what Read gives next
	taken   int    // of encoded
}

func (c *copied[T, R]) Read(into []byte) (int, error) {
	if c.taken == len(c.encoded) {
		if c.ended {
			return 0, io.EOF
		}
		c.encoded, c.taken = c.encoded[:0], 0
	}
	for len(c.encoded) < len(into) && !c.ended {
		if err := c.encode(); err != nil {
			return 0, err
		}
	}
	n := copy(into, c.encoded[c.taken:])
	c.taken += n
	return n, nil
}

// encode appends the next row, or the end.
func (c *copied[T, R]) encode() error {
	if len(c.rows) == 0 {
		c.ended = true
		c.encoded = binary.BigEndian.AppendUint16(c.encoded, math.MaxUint16) // -1 columns
		return nil
	}
	fields := c.table.Values(&c.rows[0])
	c.rows = c.rows[1:]
	c.encoded = binary.BigEndian.AppendUint16(c.encoded, uint16(len(fields)))
	for i, field := range fields {
		start := len(c.encoded)
		c.encoded = append(c.encoded, 0, 0, 0, 0)
		encoded, err := appendField(c.encoded, field)
		if err != nil {
			return errors.Wrapf(err, "column %s", c.table.Columns[i])
		}
		size := uint32(math.MaxUint32) // -1: NULL
		if encoded != nil {
			c.encoded, size = encoded, uint32(len(encoded)-len(c.encoded))
		}
		binary.BigEndian.PutUint32(c.encoded[start:], size)
	}
	return nil
}

func appendCopyHeader(buf []byte) []byte {
	return append(buf, "PGCOPY\n\xff\r\n\x00"+"\x00\x00\x00\x00"+"\x00\x00\x00\x00"...) // no flags, no extension
}

// appendField prints a field of package tables as the server's binary format
// has it; nil for NULL.
func appendField(buf []byte, field any) ([]byte, error) {
	switch field := field.(type) {
	case *string:
		return append(buf, *field...), nil
	case *int64:
		return binary.BigEndian.AppendUint64(buf, uint64(*field)), nil
	case *uint64:
		return binary.BigEndian.AppendUint64(buf, *field), nil
	case *float64:
		return binary.BigEndian.AppendUint64(buf, math.Float64bits(*field)), nil
	case *time.Time:
		return appendTime(buf, *field), nil
	case tables.Decimal:
		if *field.Into == nil {
			return nil, nil
		}
		return appendNumeric(buf, **field.Into)
	case tables.Texts:
		return appendTexts(buf, *field.Into), nil
	case tables.JSON:
		if *field.Into == nil {
			return nil, nil
		}
		return append(buf, *field.Into...), nil
	}
	return appendOther(buf, reflect.ValueOf(field).Elem())
}

// appendOther prints what is based on string, and what is behind a pointer.
func appendOther(buf []byte, value reflect.Value) ([]byte, error) {
	switch {
	case value.Kind() == reflect.String:
		return append(buf, value.String()...), nil
	case value.Kind() != reflect.Pointer:
		return nil, errors.AssertionFailedf("postgres: a field of type %s", value.Type())
	case value.IsNil():
		return nil, nil
	}
	return appendField(buf, value.Interface())
}

// epoch is where the server counts its times from, in microseconds.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

func appendTime(buf []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(buf, uint64(t.UnixMicro()-epoch))
}

func appendTexts(buf []byte, texts []string) []byte {
	dimensions := uint32(1)
	if len(texts) == 0 {
		dimensions = 0
	}
	buf = binary.BigEndian.AppendUint32(buf, dimensions)
	buf = binary.BigEndian.AppendUint32(buf, 0) // no NULL among them
	buf = binary.BigEndian.AppendUint32(buf, pgtype.TextOID)
	if dimensions == 0 {
		return buf
	}
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(texts)))
	buf = binary.BigEndian.AppendUint32(buf, 1) // the first index
	for _, text := range texts {
		buf = append(binary.BigEndian.AppendUint32(buf, uint32(len(text))), text...)
	}
	return buf
}

// The server's numeric: groups of four decimal digits, the first one's place,
// the sign, and how many digits are printed behind the point.
const (
	numericGroup    = 4
	numericNegative = 0x4000
	numericHeader   = 8
)

// appendNumeric prints a number in plain notation.
func appendNumeric(buf []byte, text string) ([]byte, error) {
	sign := uint16(0)
	digits, negative := strings.CutPrefix(text, "-")
	if negative {
		sign = numericNegative
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole == "" {
		return nil, errors.AssertionFailedf("postgres: %q is no number", text)
	}
	whole = strings.TrimLeft(whole, "0")
	start := len(buf)
	buf = append(buf, make([]byte, numericHeader)...)
	groups := 0                                                       // that were printed
	first := (len(whole)+numericGroup-1)/numericGroup - 1             // place of the first group
	for at := len(whole) - (first+1)*numericGroup; at < len(whole); { // whole ends with a group
		group, err := digitsIn(whole, at)
		if err != nil {
			return nil, errors.Wrapf(err, "postgres: number %q", text)
		}
		buf, groups = binary.BigEndian.AppendUint16(buf, group), groups+1
		at += numericGroup
	}
	for at := 0; at < len(fraction); at += numericGroup { // fraction begins with one
		group, err := digitsIn(fraction, at)
		if err != nil {
			return nil, errors.Wrapf(err, "postgres: number %q", text)
		}
		if groups == 0 && group == 0 {
			first--
			continue
		}
		buf, groups = binary.BigEndian.AppendUint16(buf, group), groups+1
	}
	for groups > 0 && binary.BigEndian.Uint16(buf[len(buf)-2:]) == 0 {
		buf, groups = buf[:len(buf)-2], groups-1
	}
	if groups == 0 {
		first, sign = 0, 0
	}
	binary.BigEndian.PutUint16(buf[start:], uint16(groups))
	binary.BigEndian.PutUint16(buf[start+2:], uint16(int16(first)))
	binary.BigEndian.PutUint16(buf[start+4:], sign)
	binary.BigEndian.PutUint16(buf[start+6:], uint16(len(fraction)))
	return buf, nil
}

// digitsIn reads the group at a place, with zeros for what is beyond the text's
// ends.
func digitsIn(text string, at int) (uint16, error) {
	value := uint16(0)
	for i := at; i < at+numericGroup; i++ {
		value *= 10
		if i < 0 || i >= len(text) {
			continue
		}
		if text[i] < '0' || text[i] > '9' {
			return 0, errors.AssertionFailedf("%q is no digit", text[i])
		}
		value += uint16(text[i] - '0')
	}
	return value, nil
}
