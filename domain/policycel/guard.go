package policycel

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common/functions"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// guarded calls a function whose work grows with its arguments, and charges the
// work before it is done. The library charges when it has been done, which is
// too late for a text that is replaced into a thousand copies of itself.
type guarded struct {
	id   int64
	args []interpreter.InterpretableV2
	call func(m *meter, args []ref.Val) ref.Val
}

// ID is the node's.
func (g *guarded) ID() int64 { return g.id }

// maxArguments is the most that a function of the white list takes.
const maxArguments = 4

// Exec evaluates the arguments; the first that has no value is the result.
func (g *guarded) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	m := meter{tracker: frame.CostTracker()}
	m.charge(1)
	var values [maxArguments]ref.Val
	for i, arg := range g.args {
		values[i] = arg.Exec(frame)
		if types.IsUnknownOrError(values[i]) {
			return values[i]
		}
	}
	return g.call(&m, values[:len(g.args)])
}

// Eval is for callers without a frame.
func (g *guarded) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, g.Exec)
}

// constantList is a list of constants that is written out: made once.
type constantList struct {
	interpreter.InterpretableV2
	list ref.Val
}

// Exec gives the list.
func (c constantList) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	m := meter{tracker: frame.CostTracker()}
	m.charge(1)
	return c.list
}

// decorate replaces the nodes of an evaluation that this package prices or
// orders.
func decorate(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch node := node.(type) {
	case interpreter.InterpretableConstructor:
		if node.Type() == types.MapType {
			return orderedLiteral{node}, nil
		}
		if node.Type() == types.ListType {
			return foldList(node), nil
		}
	case interpreter.InterpretableCall:
		if len(node.Args()) > maxArguments {
			return node, nil
		}
		if call := callOf(node); call != nil {
			return &guarded{id: node.ID(), args: node.Args(), call: call}, nil
		}
	}
	return node, nil
}

func foldList(node interpreter.InterpretableConstructor) interpreter.InterpretableV2 {
	elements := node.InitVals()
	values := make([]ref.Val, len(elements))
	for i, element := range elements {
		constant, ok := element.(interpreter.InterpretableConst)
		if !ok {
			return node
		}
		values[i] = constant.Value()
	}
	return constantList{node, types.NewRefValList(types.DefaultTypeAdapter, values)}
}

// callOf gives what a call does in place of the library's node, nil when the
// library's own will do: its work does not grow.
func callOf(node interpreter.InterpretableCall) func(*meter, []ref.Val) ref.Val {
	switch node.Function() {
	case operators.Equals:
		return func(m *meter, args []ref.Val) ref.Val { return types.Bool(equal(args[0], args[1], m)) }
	case operators.NotEquals:
		return func(m *meter, args []ref.Val) ref.Val { return types.Bool(!equal(args[0], args[1], m)) }
	case operators.In:
		return func(m *meter, args []ref.Val) ref.Val { return contains(args[1], args[0], m) }
	case "matches":
		return matcher(node)
	}
	price, ok := prices[node.Function()]
	if !ok {
		return nil
	}
	implementation := implementationOf(node)
	if node.Function() == operators.Add {
		return func(m *meter, args []ref.Val) ref.Val {
			if _, isList := args[0].(traits.Lister); isList {
				return concat(args[0], args[1], m)
			}
			m.charge(price(m, args))
			return implementation(args)
		}
	}
	return func(m *meter, args []ref.Val) ref.Val {
		m.charge(price(m, args))
		return implementation(args)
	}
}

// matcher compiles the pattern of matches, which is written out.
func matcher(node interpreter.InterpretableCall) func(*meter, []ref.Val) ref.Val {
	constant, ok := node.Args()[1].(interpreter.InterpretableConst)
	if !ok {
		return func(*meter, []ref.Val) ref.Val { return errNoOverload() } // refused when the policy was compiled
	}
	text, _ := constant.Value().(types.String)
	size, ok := patternSize(string(text))
	if !ok {
		return func(*meter, []ref.Val) ref.Val { return types.NewErr("no such pattern") }
	}
	pattern := regexp.MustCompile(string(text))
	return func(m *meter, args []ref.Val) ref.Val {
		text, isText := args[0].(types.String)
		if !isText {
			return errNoOverload()
		}
		m.charge(product(len(text), size) / matchSteps)
		return types.Bool(pattern.MatchString(string(text)))
	}
}

// implementationOf is the library's own function behind a call.
func implementationOf(node interpreter.InterpretableCall) func([]ref.Val) ref.Val {
	overload := implementations()[node.OverloadID()]
	if overload == nil {
		overload = implementations()[node.Function()]
	}
	name, id := node.Function(), node.OverloadID()
	return func(args []ref.Val) ref.Val {
		if overload != nil && (overload.OperandTrait == 0 || args[0].Type().HasTrait(overload.OperandTrait)) {
			return invoke(overload, args)
		}
		if receiver, ok := args[0].(traits.Receiver); ok {
			return receiver.Receive(name, id, args[1:])
		}
		return errNoOverload()
	}
}

func invoke(overload *functions.Overload, args []ref.Val) ref.Val {
	switch {
	case len(args) == 1 && overload.Unary != nil:
		return overload.Unary(args[0])
	case len(args) == 2 && overload.Binary != nil:
		return overload.Binary(args[0], args[1])
	case overload.Function != nil:
		return overload.Function(args...)
	}
	return errNoOverload()
}

// price is what a call costs beside 1. What it has to walk to know, it charges
// itself.
type price func(m *meter, args []ref.Val) int

// prices are those of the functions whose work grows with their arguments, by
// name. The others cost 1.
var prices = map[string]price{
	operators.Add:           scan,
	operators.Less:          scan,
	operators.LessEquals:    scan,
	operators.Greater:       scan,
	operators.GreaterEquals: scan,
	"size":                  scan,
	"contains":              scan,
	"startsWith":            scan,
	"endsWith":              scan,
	"lowerAscii":            runes,
	"upperAscii":            runes,
	"trim":                  runes,
	"charAt":                runes,
	"substring":             runes,
	"reverse":               runes,
	"strings.quote":         runes,
	"string":                scan,
	"bytes":                 scan,
	"int":                   scan,
	"uint":                  scan,
	"double":                scan,
	"bool":                  scan,
	"timestamp":             scan,
	"duration":              scan,
	"indexOf":               search,
	"lastIndexOf":           search,
	"replace":               replaced,
	"split":                 split,
	"join":                  joined,
}

func textLength(v ref.Val) int {
	switch v := v.(type) {
	case types.String:
		return len(v)
	case types.Bytes:
		return len(v)
	}
	return 0
}

// scan reads all its texts once.
func scan(_ *meter, args []ref.Val) int {
	total := 0
	for _, arg := range args {
		total += textLength(arg)
	}
	return total / bytesScanned
}

// runes takes a text apart.
func runes(_ *meter, args []ref.Val) int { return textLength(args[0]) / bytesRunes }

// search compares a text at every place of another.
func search(_ *meter, args []ref.Val) int {
	return textLength(args[0])/bytesRunes + product(textLength(args[0]), textLength(args[1]))/searchCompare
}

// replaced is as long as what stands in it.
func replaced(m *meter, args []ref.Val) int {
	text, _ := args[0].(types.String)
	old, _ := args[1].(types.String)
	m.charge(len(text) / bytesScanned)
	places := pieces(string(text), string(old))
	return (len(text) + product(places, textLength(args[2]))) / bytesScanned
}

// split makes a list of pieces.
func split(m *meter, args []ref.Val) int {
	text, _ := args[0].(types.String)
	separator, _ := args[1].(types.String)
	m.charge(len(text) / bytesScanned)
	return priceElement * pieces(string(text), string(separator))
}

// pieces counts where a text is found; an empty one is found around every
// character.
func pieces(text, wanted string) int {
	if wanted == "" {
		return utf8.RuneCountInString(text) + 1
	}
	return strings.Count(text, wanted)
}

// joined is as long as its pieces and what stands between them.
func joined(m *meter, args []ref.Val) int {
	list, isList := args[0].(traits.Lister)
	if !isList {
		return 0
	}
	between := 0
	if len(args) > 1 {
		between = textLength(args[1])
	}
	total := 0
	for elements := list.Iterator(); elements.HasNext() == types.True; {
		m.charge(priceElement)
		m.charge((textLength(elements.Next()) + between) / bytesScanned)
	}
	return total
}

// product multiplies without running over.
func product(a, b int) int {
	const tooDear = MaxCost * 1024
	if a != 0 && b > tooDear/a {
		return tooDear
	}
	return a * b
}
