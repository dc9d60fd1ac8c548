package checkpoint_test

import (
	"fmt"
	"testing"

	"github.com/ledgerd/ledgerd/domain/canonicaljson"
	"github.com/ledgerd/ledgerd/domain/checkpoint"
	"github.com/ledgerd/ledgerd/domain/strictjson"
)

func jsonOf(v strictjson.Value) string { return string(canonicaljson.Append(nil, v)) }

// largest is a read of as many records as there may be, about 800 bytes each.
func largest(b *testing.B) (read, int64) {
	r := boundRead(b)
	noise := r.cp.Records[1].Text
	r = padded(b, checkpoint.MaxRecords, noise)
	return r, checkpoint.Observe(r.cp).Bytes
}

func BenchmarkProjectLargest(b *testing.B) {
	r, size := largest(b)
	b.ReportAllocs()
	b.SetBytes(size)
	for b.Loop() {
		if got := r.project(); got.Outcome != checkpoint.Bound {
			b.Fatal(got)
		}
	}
}

func BenchmarkExamineLargest(b *testing.B) {
	r, size := largest(b)
	b.ReportAllocs()
	b.SetBytes(size)
	for b.Loop() {
		if got := checkpoint.Examine(r.cp, r.publication, r.workspace, checkpoint.KimiContext()); got.Result.Outcome != checkpoint.Bound {
			b.Fatal(got)
		}
	}
}

func BenchmarkProjectSlice(b *testing.B) {
	r, _ := largest(b)
	r.cp = checkpoint.Slice(r.cp, r.publication, checkpoint.KimiContext())
	b.ReportAllocs()
	for b.Loop() {
		if got := r.project(); got.Outcome != checkpoint.Bound {
			b.Fatal(fmt.Sprint(got))
		}
	}
}
