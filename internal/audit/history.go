package audit

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ledgerd/ledgerd/domain"
)

// history is what is known of one campaign's decisions so far.
type history struct {
	state    *domain.Campaign // nil: nothing was accepted
	accepted []acceptedAt     // by index
	broken   bool             // it contradicted itself: nothing more is known of it
}

type acceptedAt struct {
	index uint64
	kind  domain.Kind
}

// follow takes up the campaign's next decision and says what in it does not
// follow from those before, "" when all does.
func (h *history) follow(d *domain.Decision, recordHash string) string {
	if h.broken {
		return ""
	}
	wrong := h.contradiction(d, recordHash)
	h.broken = wrong != ""
	return wrong
}

func (h *history) contradiction(d *domain.Decision, recordHash string) string {
	state, err := domain.Fold(h.state, d, recordHash)
	if err != nil {
		return err.Error()
	}
	h.state = state
	switch {
	case d.Outcome == domain.Accepted:
		h.accepted = append(h.accepted, acceptedAt{d.Index, d.Kind})
	case d.Repeats != nil && !h.has(acceptedAt{*d.Repeats, d.Kind}):
		return fmt.Sprintf("it repeats decision %d, which is no accepted %s of campaign %q", *d.Repeats, d.Kind, d.Campaign)
	}
	return ""
}

func (h *history) has(wanted acceptedAt) bool {
	at, found := slices.BinarySearchFunc(h.accepted, wanted.index, func(a acceptedAt, index uint64) int { return cmp.Compare(a.index, index) })
	return found && h.accepted[at].kind == wanted.kind
}
