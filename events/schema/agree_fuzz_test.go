package schema_test

import (
	"testing"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// FuzzAgreement: whatever the body, the judges do not contradict each other.
func FuzzAgreement(f *testing.F) {
	kinds := domain.Kinds()
	index := map[domain.Kind]uint8{}
	for i, kind := range kinds {
		index[kind] = uint8(i)
	}
	for _, class := range []string{valid, malformed, refused, beyond} {
		for _, e := range examples(f, class) {
			f.Add(index[e.kind], e.body)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		if strictjson.Check(append([]byte(nil), body...)) != nil {
			return // no schema sees it
		}
		if err := judge(t, kinds[int(kind)%len(kinds)], body).disagreement(); err != nil {
			t.Fatalf("%s: %v", kinds[int(kind)%len(kinds)], err)
		}
	})
}
