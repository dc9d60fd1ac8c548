package policycel

import (
	"reflect"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"

	"github.com/ledgerd/ledgerd/domain/strictjson"
)

// Program is a policy's expressions, compiled. It is not changed by running,
// and may run many times at once.
type Program struct {
	documents []string
	lets      []named
	facts     []fact
	gates     []cel.Program
}

type named struct {
	name    string
	program cel.Program
}

type fact struct {
	named
	kind Kind
}

// Outcome is how an expression ended.
type Outcome int

// The outcomes. Held is a fact that has a value too.
const (
	Held    Outcome = iota
	False           // a gate that does not hold
	NoValue         // a member is missing, a type is another, a number runs over
	TooDear         // the cell's expressions cost more than [MaxCost]
)

// String is the class of a fault, for a sentence.
func (o Outcome) String() string { return [...]string{"true", "false", "no value", "too dear"}[o] }

// Value is a fact. Known is false for null.
type Value struct {
	Known  bool
	Text   string   // of [KindText]
	Number float64  // of [KindNumber]
	Texts  []string // of [KindTexts]
}

// Input is what the expressions of one cell see.
type Input struct {
	Provenance strictjson.Value
	Campaign   strictjson.Value
	Documents  []strictjson.Value // in the order of NewCompiler's names; undefined: an optional one that is absent
}

// Run is the evaluation of one cell. It is used by one goroutine.
type Run struct {
	program *Program
	meter   *meter
	frame   *interpreter.ExecutionFrame
	vars    map[string]any
	facts   *record
	why     error // what the library said last
}

// Begin evaluates the lets. Whoever begins closes.
func (p *Program) Begin(in Input) *Run {
	r := &Run{program: p, meter: newMeter(), vars: make(map[string]any, 4+len(p.documents)+len(p.lets))}
	r.vars[varProvenance] = valueOf(in.Provenance, r.meter)
	r.vars[varCampaign] = valueOf(in.Campaign, r.meter)
	for i, name := range p.documents {
		r.vars[name] = valueOf(in.Documents[i], r.meter)
	}
	r.facts = &record{}
	r.vars[varFacts] = r.facts
	frame, err := interpreter.NewExecutionFrame(r.vars)
	if err != nil {
		panic("policycel: no frame: " + err.Error()) // variables are a map
	}
	frame.SetCostTracker(r.meter.tracker)
	r.frame = frame
	for _, let := range p.lets {
		value, outcome := r.evaluate(let.program)
		if outcome != Held {
			value = types.NewErr("no value") // for whoever uses the name
		}
		r.vars[let.name] = value
	}
	return r
}

// Close lets go of what the run holds.
func (r *Run) Close() { r.frame.Close() }

// Cost is what the run has cost so far, at most one more than [MaxCost].
func (r *Run) Cost() uint64 { return r.meter.spent() }

// Explanation is what the library says of the last expression without a value,
// for a person and no record.
func (r *Run) Explanation() string {
	if r.why == nil {
		return ""
	}
	return r.why.Error()
}

// Fact evaluates a fact that was compiled. Later expressions see it. A name
// that was not compiled is an unknown fact.
func (r *Run) Fact(name string) (Value, Outcome) {
	i := slices.IndexFunc(r.program.facts, func(f fact) bool { return f.name == name })
	if i < 0 {
		r.facts.set(name, types.NullValue)
		return Value{}, Held
	}
	result, outcome := r.evaluate(r.program.facts[i].program)
	if outcome != Held {
		r.facts.set(name, types.NullValue)
		return Value{}, outcome
	}
	value, ok := nativeOf(result, r.program.facts[i].kind)
	if !ok {
		r.facts.set(name, types.NullValue)
		return Value{}, NoValue
	}
	r.facts.set(name, result)
	return value, Held
}

// Select says which slot the gates decide about.
func (r *Run) Select(selection strictjson.Value) { r.vars[varSelection] = valueOf(selection, r.meter) }

// Gate evaluates a gate by its place.
func (r *Run) Gate(i int) Outcome {
	result, outcome := r.evaluate(r.program.gates[i])
	switch {
	case outcome != Held:
		return outcome
	case result == types.True:
		return Held
	case result == types.False:
		return False
	}
	return NoValue
}

func (r *Run) evaluate(program cel.Program) (ref.Val, Outcome) {
	r.why = nil
	if r.meter.spent() > MaxCost {
		return nil, TooDear
	}
	result, _, err := program.Eval(r.frame)
	switch {
	case r.meter.spent() > MaxCost:
		return nil, TooDear
	case err != nil || types.IsUnknownOrError(result):
		r.why = err
		return nil, NoValue
	}
	return result, Held
}

// nativeOf reads a fact's value; false when it is of another type.
func nativeOf(v ref.Val, kind Kind) (Value, bool) {
	if v == types.NullValue {
		return Value{}, true
	}
	switch kind {
	case KindText:
		text, ok := v.(types.String)
		return Value{Known: true, Text: string(text)}, ok
	case KindNumber:
		switch n := v.(type) {
		case types.Double:
			return Value{Known: true, Number: float64(n)}, true
		case types.Int:
			return Value{Known: true, Number: float64(n)}, true
		case types.Uint:
			return Value{Known: true, Number: float64(n)}, true
		}
	case KindTexts:
		list, ok := v.(traits.Lister)
		if !ok || list.Size().(types.Int) > maxTexts {
			return Value{}, false
		}
		value := Value{Known: true, Texts: []string{}}
		for elements := list.Iterator(); elements.HasNext() == types.True; {
			text, ok := elements.Next().(types.String)
			if !ok {
				return Value{}, false
			}
			value.Texts = append(value.Texts, string(text))
		}
		return value, true
	}
	return Value{}, false
}

// maxTexts bounds a list that a fact comes to.
const maxTexts = 1_000

// record is the variable facts: what is known so far. What is not is null.
type record struct {
	names  []string // in code-point order
	values []ref.Val
}

func (f *record) set(name string, value ref.Val) {
	i, found := slices.BinarySearch(f.names, name)
	if found {
		f.values[i] = value
		return
	}
	f.names = slices.Insert(f.names, i, name)
	f.values = slices.Insert(f.values, i, value)
}

func (f *record) Type() ref.Type                            { return types.MapType }
func (f *record) Value() any                                { return f }
func (f *record) ConvertToNative(reflect.Type) (any, error) { return nil, errNoNative }
func (f *record) ConvertToType(to ref.Type) ref.Val         { return convert(f, types.MapType, to) }
func (f *record) Equal(other ref.Val) ref.Val               { return types.Bool(ref.Val(f) == other) }
func (f *record) Size() ref.Val                             { return types.Int(len(f.names)) }

// Find gives a fact.
func (f *record) Find(key ref.Val) (ref.Val, bool) {
	name, isText := key.(types.String)
	if !isText {
		return nil, false
	}
	i, found := slices.BinarySearch(f.names, string(name))
	if !found {
		return nil, false
	}
	return f.values[i], true
}

func (f *record) Contains(key ref.Val) ref.Val {
	_, found := f.Find(key)
	return types.Bool(found)
}

func (f *record) Get(key ref.Val) ref.Val {
	if value, found := f.Find(key); found {
		return value
	}
	return types.NewErr("no such key")
}

func (f *record) Iterator() traits.Iterator {
	keys := make(keyList, len(f.names))
	for i, name := range f.names {
		keys[i] = types.String(name)
	}
	return &listIterator{list: keys, size: len(keys)}
}
