package projections

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json/jsontext"
)

// Postgres keeps no NUL in text, and producers may write one. It is kept as
// nulMark and a letter; the mark itself is doubled, so that different strings
// stay different and no key collides.
const nulMark = "␀"

var storableReplacer = strings.NewReplacer("\x00", nulMark+"0", nulMark, nulMark+nulMark)

// Storable gives s as the views keep it: valid UTF-8 without NUL. Keys that a
// reader looks for go through it too.
func Storable(s string) string {
	if !strings.Contains(s, "\x00") && !strings.Contains(s, nulMark) && utf8.ValidString(s) {
		return s
	}
	return storableReplacer.Replace(strings.ToValidUTF8(s, "\uFFFD"))
}

func storableAll(list []string) []string {
	stored := make([]string, len(list))
	for i, s := range list {
		stored[i] = Storable(s)
	}
	return stored
}

// storableJSON is Storable for every string in a JSON value.
func storableJSON(value []byte) []byte {
	if !bytes.Contains(value, []byte(`\u0000`)) && !bytes.Contains(value, []byte(nulMark)) {
		return value
	}
	var stored bytes.Buffer
	reader, writer := jsontext.NewDecoder(bytes.NewReader(value)), jsontext.NewEncoder(&stored)
	for {
		token, err := reader.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSuffix(stored.Bytes(), []byte("\n"))
		}
		if err == nil && token.Kind() == '"' {
			token = jsontext.String(Storable(token.String()))
		}
		if err == nil {
			err = writer.WriteToken(token)
		}
		if err != nil {
			panic("projections: rewrite JSON that was just printed: " + err.Error())
		}
	}
}

// storedTime cuts a time to what every store keeps.
func storedTime(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// decimalOf is the shortest plain decimal that prints value, as in
// domain.Account.
func decimalOf(value *float64) *string {
	if value == nil {
		return nil
	}
	text := "0"
	if *value != 0 { // no -0
		text = strconv.FormatFloat(*value, 'f', -1, 64)
	}
	return &text
}
