package checkpoint

import "github.com/ledgerd/ledgerd/domain/strictjson"

// Slice gives the records that decide a read: the header, the rows that
// matter, and what refuses a read by itself: event and command rows that are
// not strict JSON, and records whose key comes twice. Projecting the slice
// gives what projecting the whole gives, at other indexes. Of a checkpoint
// beyond a limit only the header is left: there [Observed] decides.
func Slice(cp Checkpoint, publication Publication, _ Profile) Checkpoint {
	return slice(cp, scan(cp, publication.Get("requestId")))
}

func slice(cp Checkpoint, rows *scanned) Checkpoint {
	records := make([]Record, 0, len(rows.kept))
	for _, i := range rows.kept {
		records = append(records, cp.Records[i])
	}
	cp.Records = records
	return cp
}

// Read is a read of a whole checkpoint: the answer, and what another needs to
// come to it again.
type Read struct {
	Result   Result // of the whole; its Field counts the whole's records
	Slice    Checkpoint
	Observed Observed
}

// Examine does what [Project], [Slice] and [Observe] do, with one look at
// every record.
func Examine(cp Checkpoint, publication Publication, workspaceID strictjson.Value, profile Profile) Read {
	rows := scan(cp, publication.Get("requestId"))
	return Read{
		Result:   project(cp, publication, workspaceID, profile, rows),
		Slice:    slice(cp, rows),
		Observed: Observe(cp),
	}
}
