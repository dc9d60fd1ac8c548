package schema

import (
	"embed"

	"github.com/ledgerd/ledgerd/domain"
	"github.com/ledgerd/ledgerd/events"
)

// files are named after the ce-type that they are about.
//
//go:embed *.json
var files embed.FS

// For gives the schema of an arrival's body, a new copy at every call; nil for
// a kind that there is not.
func For(kind domain.Kind) []byte {
	if !kind.Known() {
		return nil
	}
	return read(events.ArrivalType(kind))
}

// Record gives the schema of a decision record, a new copy at every call.
func Record() []byte { return read(events.DecisionType) }

func read(ceType string) []byte {
	text, err := files.ReadFile(ceType + ".json")
	if err != nil {
		panic("schema: " + err.Error()) // it was embedded
	}
	return text
}
