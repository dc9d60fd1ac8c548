package postgres_test

import (
	"bytes"
	"math"
	"strconv"
	"testing"

	"github.com/ledgerd/ledgerd/internal/pgtest"
	"github.com/ledgerd/ledgerd/store/postgres"
)

// TestNumericAsTheServerPrintsIt compares with the server's own bytes.
func TestNumericAsTheServerPrintsIt(t *testing.T) {
	conn := connect(t, pgtest.Database(t))
	texts := []string{
		"0", "1", "9", "10", "9999", "10000", "10001", "100000000", "120000000", "0.1", "0.0001", "0.00001", "0.00012", "0.000000000001",
		"1.5", "1234.5678", "12345.06", "10000.0001", "604160.25", "-3.5", "-0.00001", "-10000", "0.10", "007.5",
		strconv.FormatFloat(math.MaxFloat64, 'f', -1, 64), strconv.FormatFloat(math.SmallestNonzeroFloat64, 'f', -1, 64),
		strconv.FormatFloat(math.Pi, 'f', -1, 64), strconv.FormatFloat(1<<53+2, 'f', -1, 64),
	}
	for _, text := range texts {
		var want []byte
		if err := conn.QueryRow(t.Context(), "SELECT numeric_send($1::text::numeric)", text).Scan(&want); err != nil {
			t.Fatal(err)
		}
		got, err := postgres.AppendNumeric([]byte("before"), text)
		if err != nil || !bytes.Equal(got, append([]byte("before"), want...)) {
			t.Errorf("%s is %x, %v; want %x", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "1e5", "1.2.3", "--1", "+1", "1 ", "", "-", ".5"} {
		if got, err := postgres.AppendNumeric(nil, text); err == nil {
			t.Errorf("%q is %x", text, got)
		}
	}
}
