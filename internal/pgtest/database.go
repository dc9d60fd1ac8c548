package pgtest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// shared is the server that a test binary's tests use together.
var shared struct {
	mutex  sync.Mutex
	server *Server
	err    error
	tried  bool
}

// Shared gives the test binary's own server, started on first use. The
// binary's TestMain must call [StopShared] after the tests.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.mutex.Lock()
	defer shared.mutex.Unlock()
	if !shared.tried {
		shared.tried = true
		shared.server, shared.err = Start(context.Background())
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// StopShared stops the shared server, if there is one.
func StopShared() {
	shared.mutex.Lock()
	defer shared.mutex.Unlock()
	if shared.server != nil {
		shared.server.Stop()
	}
}

var databases atomic.Int64

// Database makes an empty database in the shared server and gives the url of
// its owner.
func Database(t testing.TB) string {
	t.Helper()
	return Shared(t).Database(t)
}

// Database makes an empty database and gives the url of its owner, a
// superuser.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	ctx := context.Background()
	connection, err := pgx.Connect(ctx, s.URL(superuser, "postgres"))
	if err != nil {
		t.Fatalf("pgtest: connect: %v", err)
	}
	defer connection.Close(ctx)
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if _, err := connection.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("pgtest: make a database: %v", err)
	}
	return s.URL(superuser, name)
}
