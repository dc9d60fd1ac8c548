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
func (h *history) follow(d *domain.Decision) string {
	if h.broken {
		return ""
	}
	wrong := h.contradiction(d)
	h.broken = wrong != ""
	return wrong
}

func (h *history) contradiction(d *domain.Decision) string {
	if d.Outcome == domain.Accepted {
		state, err := domain.Fold(h.state, d)
		if err != nil {
			return err.Error()
		}
		h.state = state
		h.accepted = append(h.accepted, acceptedAt{d.Index, d.Kind})
		return ""
	}
	switch {
	case h.state == nil && d.Accepted != nil:
		return fmt.Sprintf("it counts %d accepted decisions of campaign %q, which is not open", *d.Accepted, d.Campaign)
	case h.state != nil && d.Accepted == nil:
		return fmt.Sprintf("it takes campaign %q for unknown, which has %d accepted decisions", d.Campaign, h.state.Accepted())
	case h.state != nil && *d.Accepted != h.state.Accepted():
		return fmt.Sprintf("it counts %d accepted decisions of campaign %q, which has %d", *d.Accepted, d.Campaign, h.state.Accepted())
	case d.Repeats != nil && !h.has(acceptedAt{*d.Repeats, d.Kind}):
		return fmt.Sprintf("it repeats decision %d, which is no accepted %s of campaign %q", *d.Repeats, d.Kind, d.Campaign)
	}
	return ""
}

func (h *history) has(wanted acceptedAt) bool {
	at, found := slices.BinarySearchFunc(h.accepted, wanted.index, func(a acceptedAt, index uint64) int { return cmp.Compare(a.index, index) })
	return found && h.accepted[at].kind == wanted.kind
}
