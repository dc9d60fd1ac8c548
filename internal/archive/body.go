package archive

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/cockroachdb/errors"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// CellBody is the cell arrival of an execution: the provenance as it is, a
// JSON object, and the three documents, as text where they are UTF-8 and in
// base64 where not. Errors: ErrArchiveDocument when the provenance is not strict
// JSON.
func CellBody(provenance []byte, e *Execution) ([]byte, error) {
	told, err := strictjson.Parse(provenance)
	if err == nil && told.Kind() != strictjson.Object {
		err = errNotObject
	}
	if err != nil {
		return nil, refuse(ErrArchiveDocument, "the provenance is one JSON object, made of what the CI's API told", "the provenance: %v", err)
	}
	source := jsontext.Value(provenance).Clone()
	if err := source.Compact(); err != nil {
		return nil, errors.Wrap(err, "archive: the provenance")
	}
	const framing = 512 // names, digests and a few escapes
	size := len(source) + framing
	for _, d := range []*Document{&e.Result, &e.Host, &e.Definition} {
		size += len(d.Path) + len(d.Raw) + len(d.Raw)/8
	}
	body := append(make([]byte, 0, size), `{"provenance":`...)
	body = append(body, source...)
	for _, d := range []struct {
		name string
		*Document
	}{{"result", &e.Result}, {"host", &e.Host}, {"definition", &e.Definition}} {
		body = append(body, `,"`+d.name+`":`...)
		if body, err = appendDocument(body, d.Document); err != nil {
			return nil, err
		}
	}
	return append(body, '}'), nil
}

func appendDocument(body []byte, d *Document) ([]byte, error) {
	body = append(body, `{"path":`...)
	body, err := jsontext.AppendQuote(body, d.Path)
	if err != nil {
		return nil, errors.Wrapf(err, "archive: the path %+q", d.Path)
	}
	if utf8.Valid(d.Raw) {
		body = append(body, `,"bytes":`...)
		if body, err = jsontext.AppendQuote(body, d.Raw); err != nil {
			return nil, errors.Wrapf(err, "archive: the document %q", d.Path)
		}
	} else {
		body = append(body, `,"base64":"`...)
		body = base64.StdEncoding.AppendEncode(body, d.Raw)
		body = append(body, '"')
	}
	body = append(body, `,"sha256":"`...)
	body = append(body, d.SHA256...)
	return append(body, `"}`...), nil
}
