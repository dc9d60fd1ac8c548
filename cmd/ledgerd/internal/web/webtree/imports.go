package webtree

import (
	"context"
	"fmt"
	"strings"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/projections"
)

// Errors of FindImport.
var (
	// ErrNoImport: no import has the key.
	ErrNoImport = errors.New("tree: no such import")
	// ErrManyImports: several have it; the message gives their indexes.
	ErrManyImports = errors.New("tree: several imports have this key")
)

// maxImports is how many imports of one key are looked at.
const maxImports = 100

// FindImport gives the ledger index of the decision that imported a key; in
// one campaign, unless campaign is "". Of several the one that counts is
// meant, if it is the only one. Errors: ErrNoImport, ErrManyImports, the
// reader's own.
func FindImport(ctx context.Context, reader projections.Reader, key, campaign string) (uint64, error) {
	list, err := reader.Imports(ctx, projections.ImportQuery{ImportKey: key, Campaign: campaign, Page: projections.Page{Limit: maxImports}})
	if err != nil {
		return 0, err
	}
	var counting []uint64
	var texts []string
	for i := range list.Items {
		item := &list.Items[i]
		if item.Void == nil {
			counting = append(counting, item.Index)
		}
		texts = append(texts, fmt.Sprintf("%d (%s)", item.Index, item.Campaign))
	}
	switch {
	case len(counting) == 1:
		return counting[0], nil
	case len(list.Items) == 1:
		return list.Items[0].Index, nil
	case len(list.Items) == 0:
		return 0, errors.Wrapf(ErrNoImport, "key %q", key)
	}
	return 0, errors.Wrapf(ErrManyImports, "key %q is at the ledger indexes %s", key, strings.Join(texts, ", "))
}
