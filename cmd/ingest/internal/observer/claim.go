package observer

import (
	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/domain/checkpoint"
)

// claim is the ids of a publication.
type claim map[string]string

// newClaim takes every id, each of which must be a string that is not empty.
func newClaim(publication checkpoint.Publication) (claim, error) {
	ids := claim{}
	for _, name := range checkpoint.PublicationIDs() {
		id, ok := publication.Get(name).Text()
		if !ok || id == "" {
			return nil, errors.WithHintf(errors.Wrapf(ErrPublication, "%s is no string or empty", name),
				"a publication has a string for each of %v", checkpoint.PublicationIDs())
		}
		ids[name] = id
	}
	return ids, nil
}
