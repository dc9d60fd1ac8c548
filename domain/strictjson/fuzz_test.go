package strictjson_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// FuzzParse holds what is strict against the standard library, which reads
// more: whatever is strict it must read too, to the same values.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[]`, `{"a":1,"a":2}`, `{"a":{"b":1,"b":1}}`, "\ufeff1", "\"\xff\"", `"\ud800"`, `"\udc00\ud800"`,
		`"\ud83d\ude00"`, `1 2`, `[[[[[[[[]]]]]]]]`, `1e999`, `-0`, `0.1e-7`, `"\u0000"`, "{\"a\":\n1}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := strictjson.Parse(raw)
		if checked := strictjson.Check(raw); (checked == nil) != (err == nil) {
			t.Fatalf("Check says %v, Parse says %v", checked, err)
		}
		if err != nil {
			return
		}
		if !utf8.Valid(raw) || !json.Valid(raw) {
			t.Fatalf("%q is not JSON and was read", raw)
		}
		again, err := strictjson.Parse(raw)
		if err != nil || !strictjson.Equal(v, again) {
			t.Fatalf("read twice, not the same: %v", err)
		}
	})
}
