// Package natsdeploy holds the NATS accounts and permissions of ledgerd, as
// text that both the embedded server and external clusters load.
//
// Model: accounts.conf names five accounts and five users; the users' public
// nkeys are variables. [Accounts] fills them in for an embedded server; a
// server of its own reads the same file and takes the variables from its
// environment (README.md).
//
// Authority: who may publish, store, read or change what is decided here and
// nowhere else. The tests of internal/natsserver hold each refusal against a
// running server.
//
// Failure: a variable that is missing, or no public user key, keeps the server
// from starting.
package natsdeploy

import (
	_ "embed" // accounts.conf
	"fmt"
	"strings"
)

//go:embed accounts.conf
var accountsConf string

// Ways a user of the LEDGER account may be let in.
const (
	InProcess = "IN_PROCESS" // only from the process that runs the server
	Standard  = "STANDARD"   // over the network
)

// Keys are the public user nkeys (U…) of each role.
type Keys struct {
	Daemon, Provisioner           string
	Operator, Coordinator, Reader string
}

// variables are the ones that accounts.conf asks for, in its order.
func (k Keys) variables(connection string) [][2]string {
	return [][2]string{
		{"LEDGERD_DAEMON_NKEY", k.Daemon},
		{"LEDGERD_PROVISIONER_NKEY", k.Provisioner},
		{"LEDGERD_OPERATOR_NKEY", k.Operator},
		{"LEDGERD_COORDINATOR_NKEY", k.Coordinator},
		{"LEDGERD_READER_NKEY", k.Reader},
		{"LEDGERD_DAEMON_CONNECTION", connection},
	}
}

// Accounts is accounts.conf with its variables defined, ready for
// server.Options.ProcessConfigString. connection is [InProcess] or [Standard]
// and holds for the daemon and the provisioner.
func Accounts(keys Keys, connection string) string {
	var text strings.Builder
	for _, v := range keys.variables(connection) {
		fmt.Fprintf(&text, "%s: %q\n", v[0], v[1])
	}
	text.WriteString(accountsConf)
	return text.String()
}
