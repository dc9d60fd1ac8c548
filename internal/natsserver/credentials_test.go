package natsserver_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/errors"
	"github.com/nats-io/nats.go"

	natsdeploy "github.com/ledgerd/ledgerd/deploy/nats"
	"github.com/ledgerd/ledgerd/internal/natsserver"
)

// TestWithoutCredentialsNobodyGetsIn: every way in but a known key is closed.
func TestWithoutCredentialsNobodyGetsIn(t *testing.T) {
	l := startLedger(t)
	stranger := newOutsider(t, natsdeploy.Operator)
	operator := l.outsiders[natsdeploy.Operator]
	rows := map[string][]nats.Option{
		"nothing":                                nil,
		"a user and a password":                  {nats.UserInfo("operator", "operator")},
		"an empty user":                          {nats.UserInfo("", "")},
		"a token":                                {nats.Token("operator")},
		"a key nobody knows":                     {nats.Nkey(stranger.public, stranger.pair.Sign)},
		"a known key, another's nonce signature": {nats.Nkey(operator.public, stranger.pair.Sign)},
		"a known key as user":                    {nats.UserInfo(operator.public, "")},
		"the account's name as user":             {nats.UserInfo(natsdeploy.LedgerAccount, "")},
		"the system account":                     {nats.UserInfo(natsdeploy.SystemAccount, "")},
	}
	for name, opts := range rows {
		t.Run(name, func(t *testing.T) {
			conn, err := nats.Connect(l.ClientURL(), opts...)
			if err == nil {
				conn.Close()
			}
			if !errors.Is(err, nats.ErrAuthorization) {
				t.Errorf("connecting: %v, want %v", err, nats.ErrAuthorization)
			}
		})
	}
}

// TestBareProtocolIsRefused: who does not even introduce itself is cut off
// before its message counts.
func TestBareProtocolIsRefused(t *testing.T) {
	for name, protocol := range map[string]string{
		"no introduction":         "PUB ledger.arrivals.c1.cell 2\r\n{}\r\n",
		"an empty introduction":   "CONNECT {}\r\nPUB ledger.arrivals.c1.cell 2\r\n{}\r\n",
		"another account by name": `CONNECT {"account":"LEDGER","new_account":true}` + "\r\nPUB ledger.decisions.c1.accepted.cell 2\r\n{}\r\n",
		"as a route":              `CONNECT {"name":"other","cluster":"c"}` + "\r\nRMSG LEDGER ledger.decisions.c1.accepted.cell 2\r\n{}\r\n",
		"as a leaf":               `CONNECT {"remote_account":"LEDGER"}` + "\r\nLMSG ledger.decisions.c1.accepted.cell 2\r\n{}\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := startLedger(t)
			conn, err := net.Dial("tcp", strings.TrimPrefix(l.ClientURL(), "nats://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprint(conn, protocol); err != nil {
				t.Fatal(err)
			}
			var said []string
			for lines := bufio.NewScanner(conn); lines.Scan(); {
				said = append(said, lines.Text())
			}
			if len(said) == 0 || !strings.HasPrefix(said[len(said)-1], "-ERR") {
				t.Errorf("the server said %q, want an error at the end", said)
			}
			if arrivals, decisions := l.lengths(t); arrivals != 0 || decisions != 0 {
				t.Errorf("%d arrivals and %d decisions were stored", arrivals, decisions)
			}
		})
	}
}

func TestOutsidersHaveNoKeyInProcess(t *testing.T) {
	l := startLedger(t)
	for _, role := range append(natsdeploy.Outside(), "") {
		conn, err := l.InProcess(role)
		if !errors.Is(err, natsserver.ErrRole) {
			t.Errorf("%q: %v, want %v", role, err, natsserver.ErrRole)
		}
		if err == nil {
			conn.Close()
		}
	}
}

// TestNoSecretIsLogged: after connections that were let in, and one that was
// not, the log holds no key but public ones.
func TestNoSecretIsLogged(t *testing.T) {
	l := startLedger(t)
	for _, role := range natsdeploy.Outside() {
		l.connect(t, role)
	}
	const password = "correct horse"
	if conn, err := nats.Connect(l.ClientURL(), nats.UserInfo("operator", password)); err == nil {
		conn.Close()
		t.Fatal("a password was let in")
	}
	secrets := []string{password}
	for _, outsider := range l.outsiders {
		seed, err := outsider.pair.Seed()
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, string(seed))
	}
	l.Stop()
	for _, secret := range secrets {
		if strings.Contains(l.logs.String(), secret) {
			t.Errorf("the log holds a secret: %s", l.logs)
		}
	}
}
