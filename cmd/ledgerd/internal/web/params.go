package web

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ledgerd/ledgerd/projections"
)

// Optional is a parameter that may be absent.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Schema, Receiver and OnParamSet are how huma fills it.
func (o Optional[T]) Schema(registry huma.Registry) *huma.Schema {
	return huma.SchemaFromType(registry, reflect.TypeFor[T]())
}
func (o *Optional[T]) Receiver() reflect.Value    { return reflect.ValueOf(o).Elem().Field(0) }
func (o *Optional[T]) OnParamSet(set bool, _ any) { o.Set = set }

// Freshness is what every read takes: how new the views must be, and what the
// client knows already.
type Freshness struct {
	At          Optional[uint64] `query:"at" maximum:"9007199254740991" doc:"Ledger index that the answer must have; it waits for it."`
	Wait        float64          `query:"wait" minimum:"0" maximum:"30" default:"5" doc:"Seconds to wait for the index, then 504."`
	IfNoneMatch string           `header:"If-None-Match" doc:"ETag of the answer that the client has."`

	url url.URL
}

func (f *Freshness) freshness() *Freshness { return f }

func (f *Freshness) wait() time.Duration { return time.Duration(f.Wait * float64(time.Second)) }

// Resolve is called by huma before the operation.
func (f *Freshness) Resolve(ctx huma.Context) []error {
	f.url = ctx.URL()
	wrong := checkQuery(f.url.RawQuery)
	if math.IsNaN(f.Wait) { // is neither below a minimum nor above a maximum
		wrong = append(wrong, &huma.ErrorDetail{Message: "not a number", Location: "query.wait", Value: f.Wait})
	}
	return wrong
}

// checkQuery refuses what would be read in part only, or not at all: a
// parameter that cannot be unescaped, is given twice, or has no value. The last
// would select everything, and who sends it means one thing that is missing.
func checkQuery(raw string) []error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return []error{&huma.ErrorDetail{Message: "the query cannot be parsed", Location: "query"}}
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if message := checkValues(query[name]); message != "" {
			wrong = append(wrong, &huma.ErrorDetail{Message: message, Location: "query." + name})
		}
	}
	return wrong
}

// checkValues says what is wrong with a parameter, whatever it is.
func checkValues(values []string) string {
	switch {
	case len(values) > 1:
		return "given more than once"
	case values[0] == "":
		return "given without a value; leave it out"
	case !utf8.ValidString(values[0]):
		return "not UTF-8"
	}
	return ""
}

// key is the query without what does not change the answer.
func (f *Freshness) key() string {
	query := f.url.Query()
	query.Del("at")
	query.Del("wait")
	return f.url.EscapedPath() + "?" + query.Encode()
}

// Paging selects a part of a list.
type Paging struct {
	Limit int              `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many items at most."`
	After Optional[uint64] `query:"after" maximum:"9007199254740991" doc:"The next of the page before."`
}

func (p *Paging) page() projections.Page {
	page := projections.Page{Limit: p.Limit}
	if p.After.Set {
		page.After = &p.After.Value
	}
	return page
}

// nextLink is the Link header (RFC 8288) of the page behind this one.
func (f *Freshness) nextLink(next *uint64) string {
	if next == nil {
		return ""
	}
	query := f.url.Query()
	query.Del("at")
	query.Del("wait")
	query.Set("after", fmt.Sprint(*next))
	var link strings.Builder
	link.WriteString("<" + f.url.EscapedPath() + "?" + query.Encode() + `>; rel="next"`)
	return link.String()
}
