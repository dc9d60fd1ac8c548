package checkpoint

// Authority is what a bound read proves: who, in which session, asked for
// what, and that the answer was delivered. Digests are "sha256:" and lower hex
// over canonical JSON; actionSha256 is over the task's description as plain
// text. Two reads are the same when their authorities are ==.
type Authority struct {
	Schema string `json:"schema"`

	// As claimed. Those that may be an ID of any form are held by no pattern.
	CompanyID            ID     `json:"companyId,omitzero"`
	IssueID              ID     `json:"issueId,omitzero"`
	AgentID              ID     `json:"agentId,omitzero"`
	EnvironmentID        ID     `json:"environmentId,omitzero"`
	RunID                string `json:"runId"`
	SessionID            string `json:"sessionId"`
	SourceInstanceID     string `json:"sourceInstanceId"`
	TurnID               ID     `json:"turnId,omitzero"` // the provider's
	ObserverLeaseID      string `json:"observerLeaseId"`
	ExecutionWorkspaceID string `json:"executionWorkspaceId"`
	ControllerTurnID     string `json:"controllerTurnId"`
	ControllerItemID     string `json:"controllerItemId"`
	RequestID            ID     `json:"requestId,omitzero"`
	ToolCallID           ID     `json:"toolCallId,omitzero"`

	RequestCreatedSourceSeq  int64  `json:"requestCreatedSourceSeq"`
	RequestResolvedSourceSeq int64  `json:"requestResolvedSourceSeq"`
	RequestCreatedSHA256     string `json:"requestCreatedSha256"`
	RequestResolvedSHA256    string `json:"requestResolvedSha256"`
	TurnStartSHA256          string `json:"turnStartSha256"`
	ResolutionCommandSHA256  string `json:"resolutionCommandSha256"`
	ActionSHA256             string `json:"actionSha256"`

	CallID             string `json:"callId"`
	InputSourceSeq     int64  `json:"inputSourceSeq"`
	InputSourceEventID ID     `json:"inputSourceEventId,omitzero"`
	InputSHA256        string `json:"inputSha256"`
	InputEventSHA256   string `json:"inputEventSha256"`
	ResultSHA256       string `json:"resultSha256"`
	CorrelationSHA256  string `json:"correlationSha256"`

	CommandID      string `json:"commandId"`
	ControllerSeq  int64  `json:"controllerSeq"`
	CommandSHA256  string `json:"commandSha256"`
	DeliverySHA256 string `json:"deliverySha256"`

	CheckpointIdentitySHA256     string `json:"checkpointIdentitySha256"`
	AuthenticatedConnectionCount int64  `json:"authenticatedConnectionCount"`
	HighestRecordedSourceSeq     int64  `json:"highestRecordedSourceSeq"`
}

// LongerThan gives the field that the first id of more than n bytes came from,
// as a JSON Pointer like [Result]'s; false when there is none. An id that is
// no string counts with its JSON's bytes. What the header and the project
// itself bound is not looked at.
func (a *Authority) LongerThan(n int) (field string, ok bool) {
	for _, id := range []struct {
		field  string
		length int
	}{
		{"/publication/companyId", a.CompanyID.length()},
		{"/publication/issueId", a.IssueID.length()},
		{"/publication/agentId", a.AgentID.length()},
		{"/publication/environmentId", a.EnvironmentID.length()},
		{"/publication/turnId", a.TurnID.length()},
		{"/publication/observerLeaseId", len(a.ObserverLeaseID)},
		{"/publication/requestId", a.RequestID.length()},
		{"/publication/toolCallId", a.ToolCallID.length()},
		{"/checkpoint/records", len(a.CallID)},
		{"/checkpoint/records", a.InputSourceEventID.length()},
	} {
		if id.length > n {
			return id.field, true
		}
	}
	return "", false
}

// length is an id's bytes: a string's own, another value's JSON.
func (id ID) length() int {
	if text, ok := id.Text(); ok {
		return len(text)
	}
	return len(id.json)
}
