package checkpoint

import (
	"regexp"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

const headerSchema = "paperclip.runner.durable.control-plane-state.v1"

// stableID is what the header's ids look like.
var stableID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,239}$`)

// identityIDs names what the header's identity holds.
var identityIDs = [...]string{"runnerInstanceId", "environmentLeaseId", "runId", "normalizedSessionId", "turnId", "itemId"}

// readHeader gives the identity in the header.
func readHeader(cp Checkpoint, index int) (node, *fault) {
	if index < 0 {
		return node{}, faulty(Malformed, "/checkpoint/records", "the checkpoint has no record with the key header")
	}
	value, err := strictjson.Parse([]byte(cp.Records[index].Text))
	if err != nil {
		return node{}, faulty(Malformed, recordPath(index), "the record header is not strict JSON: %v", err)
	}
	header := recordNode(index, headerKey, value)
	if !header.Get("schema").IsText(headerSchema) {
		return node{}, faulty(Malformed, header.path+"/schema", "header: schema must be %s and is %s", headerSchema, show(header.Get("schema")))
	}
	identity := header.in("identity")
	for _, name := range identityIDs {
		if id, ok := identity.Get(name).Text(); !ok || !stableID.MatchString(id) {
			return node{}, faulty(Malformed, identity.path+"/"+name,
				"header: %s must be a string of 1 to 240 letters, digits and ._:- that begins with a letter or digit, and is %s",
				name, show(identity.Get(name)))
		}
	}
	return identity, nil
}

// checkIdentity holds header, evidence, workspace and claim against each other.
func (b *binding) checkIdentity() *fault {
	workspace, ok := b.workspace.Text()
	if !ok || workspace == "" {
		return faulty(Malformed, "/executionWorkspaceId", "executionWorkspaceId must be a string that is not empty and is %s", show(b.workspace))
	}
	evidence := b.evidence
	return firstOf(
		b.identity.is("runId", b.claimed("runId")),
		b.identity.is("normalizedSessionId", b.claimed("sessionId")),
		b.identity.is("runnerInstanceId", b.claimed("sourceInstanceId")),
		b.identity.is("environmentLeaseId", wanted{b.workspace, "executionWorkspaceId"}),
		evidence.is("runnerInstanceId", b.claimed("sourceInstanceId")),
		evidence.is("normalizedSessionId", b.claimed("sessionId")),
		evidence.positive("authenticatedConnectionCount", Malformed),
		evidence.positive("highestRecordedSourceSeq", Malformed),
	)
}
