package web_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/ledgerd/ledgerd/internal/pgtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.StopShared()
	if err := goleak.Find(); err != nil {
		println(err.Error())
		code = 1
	}
	os.Exit(code)
}
