package audit

import (
	"context"
	"io"

	"github.com/cockroachdb/errors"

	"github.com/ledgerd/ledgerd/internal/follow"
)

// errEnough ends a pipeline whose result is known.
var errEnough = errors.New("audit: enough is known")

// wait ends when all stages have ended. A result that was known early is no
// error.
func wait(p *follow.Pipeline) error {
	if err := p.Wait(); !errors.Is(err, errEnough) {
		return err
	}
	return nil
}

// portions reads a walk and cuts it into chunks. Findings come with the pairs
// that follow them.
func portions(p *follow.Pipeline, walk Walk) follow.Stage[Portion] {
	var rest Portion
	var end error // io.EOF comes with what was found last
	next := func(ctx context.Context) (chunk Portion, err error) {
		if len(rest.Pairs) == 0 {
			if end != nil {
				return Portion{}, end
			}
			if rest, end = walk.Next(ctx); end != nil && !errors.Is(end, io.EOF) {
				return Portion{}, end
			}
		}
		n := min(len(rest.Pairs), follow.ChunkMessages)
		chunk, rest = Portion{Pairs: rest.Pairs[:n], Found: rest.Found}, Portion{Pairs: rest.Pairs[n:]}
		return chunk, nil
	}
	return follow.Read(p, next, sizeOf)
}

func sizeOf(portion Portion) follow.Size {
	size := follow.Size{Messages: int64(len(portion.Pairs))}
	for _, pair := range portion.Pairs {
		if pair.Arrival != nil {
			size.Bytes += int64(len(pair.Arrival.Data))
		}
		if pair.Decision != nil {
			size.Bytes += int64(len(pair.Decision.Data))
		}
	}
	return size
}
