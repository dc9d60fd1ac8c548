package decisions

// OnWait tells of each request that begins to wait. Set it before Run.
func (s *Service) OnWait(told func(sequence uint64)) { s.waits = told }

// MaxWaiting and MaxAsking are the bounds, for tests at their edges.
const (
	MaxWaiting = maxWaiting
	MaxAsking  = maxAsking
)
