package observer

import (
	"context"
	_ "embed"

	"github.com/cockroachdb/errors"
	"github.com/jackc/pgx/v5"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

//go:embed ownership.sql
var ownershipQuery string

// owner is what the database says of the claim.
type owner struct {
	workspaceID string
	profile     string // JSON
}

// prove gives the one owner of the claim.
func prove(ctx context.Context, tx pgx.Tx, ids claim) (owner, error) {
	rows, err := tx.Query(ctx, ownershipQuery, ids["observerLeaseId"], ids["environmentId"], ids["runId"], ids["companyId"],
		ids["agentId"], ids["issueId"], ids["sessionId"], ids["sourceInstanceId"])
	if err != nil {
		return owner{}, err
	}
	owners, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (owner, error) {
		var o owner
		var workspaceID, profile *string
		err := row.Scan(&workspaceID, &profile)
		if workspaceID != nil {
			o.workspaceID = *workspaceID
		}
		if profile != nil {
			o.profile = *profile
		}
		return o, err
	})
	switch {
	case hasState(err, stateInvalidText): // no id of the database's own form
		return owner{}, notOwned(errors.Mark(errors.Wrap(err, ErrNotOwned.Error()), ErrNotOwned))
	case err != nil:
		return owner{}, err
	case len(owners) == 0:
		return owner{}, notOwned(errors.Wrapf(ErrNotOwned, "lease %q, run %q", ids["observerLeaseId"], ids["runId"]))
	case len(owners) > 1:
		return owner{}, errors.WithHint(errors.Wrapf(ErrAmbiguous, "lease %q, run %q", ids["observerLeaseId"], ids["runId"]),
			"an id is meant to be unique in the runner's database: find the rows that repeat it")
	}
	return owners[0], owners[0].binds(ids)
}

func notOwned(err error) error {
	return errors.WithHint(err, "the lease, its run, issue and workspace must all be active and belong together: see that the run still goes on")
}

// binds holds the profile that the run was started with to the claim.
func (o owner) binds(ids claim) error {
	profile, err := strictjson.Parse([]byte(o.profile))
	if err != nil {
		return bindingError(errors.Mark(errors.Wrapf(err, "%s: runner_profile_json", ErrBinding), ErrBinding))
	}
	input := profile.Get("nativeExecutionInput")
	for _, held := range []struct {
		path []string
		want string
	}{
		{[]string{"binding", "companyId"}, ids["companyId"]},
		{[]string{"binding", "issueId"}, ids["issueId"]},
		{[]string{"binding", "agentId"}, ids["agentId"]},
		{[]string{"binding", "runId"}, ids["runId"]},
		{[]string{"binding", "executionWorkspaceId"}, o.workspaceID},
		{[]string{"session", "normalizedSessionId"}, ids["sessionId"]},
	} {
		if !input.At(held.path...).IsText(held.want) {
			return bindingError(errors.Wrapf(ErrBinding, "%s.%s is not %q", held.path[0], held.path[1], held.want))
		}
	}
	return nil
}

func bindingError(err error) error {
	return errors.WithHint(err, "nativeExecutionInput in the run's runner_profile_json must bind the run to the claimed ids")
}
