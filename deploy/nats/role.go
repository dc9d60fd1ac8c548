package natsdeploy

// Role is what a connection may do. Each role is one user of accounts.conf.
type Role string

// The roles. Daemon and Provisioner belong to the LEDGER account; the others
// each have an account of their own and meet LEDGER through imports alone.
const (
	// Daemon appends decisions, reads both streams and answers the decision
	// service.
	Daemon Role = "daemon"
	// Provisioner creates, updates and restores streams. It publishes neither
	// arrivals nor decisions.
	Provisioner Role = "provisioner"
	// Operator publishes arrivals of every kind.
	Operator Role = "operator"
	// Coordinator publishes cells and checkpoints.
	Coordinator Role = "coordinator"
	// Reader reads both streams.
	Reader Role = "reader"
)

// Outside lists the roles whose credentials are handed to people and jobs.
func Outside() []Role { return []Role{Operator, Coordinator, Reader} }

// InboxPrefix is the only prefix under which the role may receive answers. A
// connection of the role must set it, or every request of it times out.
func (r Role) InboxPrefix() string { return "_INBOX_" + string(r) }

// Account names of accounts.conf.
const (
	LedgerAccount      = "LEDGER"
	OperatorAccount    = "OPERATORS"
	CoordinatorAccount = "COORDINATORS"
	ReaderAccount      = "READERS"
	SystemAccount      = "SYS"
)

// ReaderAPI is the prefix under which a reader reaches the JetStream API, for
// jetstream.NewWithAPIPrefix: stream info and direct gets of both streams, no
// consumers.
const ReaderAPI = "ledger.api"
