package natsclient_test

import (
	"context"
	"testing"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/datadir"
	"github.com/ledgerd/ledgerd/internal/natsclient"
)

// TestDenied: a request that the server drops ends at once, and is named for
// what it is.
func TestDenied(t *testing.T) {
	d := startDaemon(t)
	for role, subject := range map[natsdeploy.Role]string{
		natsdeploy.Operator:    "ledger.decisions.c.accepted.cell",
		natsdeploy.Coordinator: "ledger.arrivals.c.seal",
		natsdeploy.Reader:      "ledger.arrivals.c.cell",
	} {
		conn, denials := connect(t, natsclient.Config{DataDir: d.dir.Path(), Role: role})
		ctx, cancel := denials.Bound(testContext(t))
		_, err := conn.RequestWithContext(ctx, subject, nil)
		cancel()
		if !errors.Is(context.Cause(ctx), natsclient.ErrDenied) {
			t.Errorf("%s: %v ended by %v", role, err, context.Cause(ctx))
		}
		explained := denials.Explain(err)
		if !errors.Is(explained, natsclient.ErrDenied) || !errors.Is(explained, nats.ErrPermissionViolation) || len(errors.GetAllHints(explained)) == 0 {
			t.Errorf("%s: %v", role, explained)
		}
		select {
		case <-denials.Done():
		default:
			t.Errorf("%s: not done", role)
		}
	}
}

// TestForeignCredentials: with another role's credentials the answers' inbox
// is denied, which is named too.
func TestForeignCredentials(t *testing.T) {
	d := startDaemon(t)
	d.answer(t, "ledger.decision.*")
	conn, denials := connect(t, natsclient.Config{
		URL: d.server.ClientURL(), Creds: datadir.CredentialFile(d.dir.Path(), natsdeploy.Coordinator), Role: natsdeploy.Operator,
	})
	ctx, cancel := denials.Bound(testContext(t))
	defer cancel()
	_, err := conn.RequestWithContext(ctx, "ledger.decision.1", nil)
	if explained := denials.Explain(err); !errors.Is(explained, natsclient.ErrDenied) {
		t.Errorf("%v", explained)
	}
}

// TestNothingDenied: other errors stay what they are.
func TestNothingDenied(t *testing.T) {
	d := startDaemon(t)
	conn, denials := connect(t, natsclient.Config{DataDir: d.dir.Path(), Role: natsdeploy.Operator})
	ctx, cancel := denials.Bound(testContext(t))
	_, err := conn.RequestWithContext(ctx, "ledger.decision.1", nil)
	if explained := denials.Explain(err); !errors.Is(explained, nats.ErrNoResponders) || errors.Is(explained, natsclient.ErrDenied) {
		t.Errorf("%v", explained)
	}
	if denials.Explain(nil) != nil {
		t.Error("no error became one")
	}
	cancel()
	if !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Error(context.Cause(ctx))
	}
}
