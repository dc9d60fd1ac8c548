package policycel

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// The variables that every expression may see, and what stands in them.
const (
	varProvenance = "provenance"
	varCampaign   = "campaign"
	varFacts      = "facts"     // of expressions of facts those before, of gates all
	varSelection  = "selection" // of gates alone
)

var memberNames = map[string][]string{
	varProvenance: {"archiveSha256", "artifactId", "repository", "runAttempt", "runId", "targetSourceRevision", "workflow", "workflowRef"},
	varCampaign:   {"id", "sourceRevision"},
	varSelection:  {"remoteOrdinal", "scenarioId"},
}

// ProvenanceMembers, CampaignMembers and SelectionMembers are what the
// variables of these names hold, sorted.
func ProvenanceMembers() []string { return slices.Clone(memberNames[varProvenance]) }

// Reserved reports whether a name means something already, so that no document
// and no let may have it.
func Reserved(name string) bool {
	switch name {
	case varProvenance, varCampaign, varFacts, varSelection, "strings", "dyn":
		return true
	}
	return slices.Contains(reservedWords, name) || slices.Contains(typeNames, name)
}

// Kind is what the expression of a fact must come to.
type Kind int

// The kinds of a fact.
const (
	KindText Kind = iota
	KindNumber
	KindTexts
)

// String names the kind for a sentence.
func (k Kind) String() string { return [...]string{"a string", "a number", "a list of strings"}[k] }

// types are those that a fact's expression may have. A dynamic one is looked
// at when it has a value; null is an unknown fact.
func (k Kind) fits(t *types.Type) bool {
	switch t.Kind() {
	case types.DynKind, types.AnyKind, types.NullTypeKind, types.TypeParamKind:
		return true
	case types.StringKind:
		return k == KindText
	case types.DoubleKind, types.IntKind, types.UintKind:
		return k == KindNumber
	case types.ListKind:
		if k != KindTexts {
			return false
		}
		element := t.Parameters()[0]
		return element.Kind() == types.StringKind || element.Kind() == types.DynKind || element.Kind() == types.TypeParamKind
	}
	return false
}

// Compiler turns the expressions of one policy into a [Program], in the order
// of the policy: lets, facts, gates.
type Compiler struct {
	known     map[string]bool // names that expressions may use
	variables []cel.EnvOption
	facts     []string
	program   *Program
}

// NewCompiler starts a policy whose documents have these names.
func NewCompiler(documents []string) *Compiler {
	c := &Compiler{known: map[string]bool{}, program: &Program{documents: slices.Clone(documents)}}
	c.declare(varProvenance, cel.MapType(cel.StringType, cel.DynType))
	c.declare(varCampaign, cel.MapType(cel.StringType, cel.DynType))
	for _, name := range documents {
		c.declare(name, cel.DynType)
	}
	return c
}

func (c *Compiler) declare(name string, t *cel.Type) {
	c.known[name] = true
	c.variables = append(c.variables, cel.Variable(name, t))
}

// Let compiles an expression whose value has a name from here on.
func (c *Compiler) Let(name, expression string) *Fault {
	compiled, t, fault := c.compile(expression)
	if fault != nil {
		return fault
	}
	c.program.lets = append(c.program.lets, named{name, compiled})
	c.declare(name, t)
	return nil
}

// Fact compiles the expression of a fact.
func (c *Compiler) Fact(name string, kind Kind, expression string) *Fault {
	if !c.known[varFacts] {
		c.declare(varFacts, cel.MapType(cel.StringType, cel.DynType))
	}
	compiled, t, fault := c.compile(expression)
	if fault != nil {
		return fault
	}
	if !kind.fits(t) {
		return &Fault{Message: fmt.Sprintf("the fact %s must be %s, and the expression is of another type", name, kind), source: expression}
	}
	c.program.facts = append(c.program.facts, fact{named: named{name, compiled}, kind: kind})
	c.facts = append(c.facts, name)
	return nil
}

// Facts says which facts gates may ask for, unknown ones included. It is called
// once, after the last fact.
func (c *Compiler) Facts(all []string) {
	if !c.known[varFacts] {
		c.declare(varFacts, cel.MapType(cel.StringType, cel.DynType))
	}
	c.facts = slices.Clone(all)
	c.declare(varSelection, cel.MapType(cel.StringType, cel.DynType))
}

// Gate compiles an expression that must hold.
func (c *Compiler) Gate(expression string) *Fault {
	compiled, t, fault := c.compile(expression)
	if fault != nil {
		return fault
	}
	if t.Kind() != types.BoolKind && t.Kind() != types.DynKind {
		return &Fault{Message: "what holds must be true or false, and the expression is of another type", source: expression}
	}
	c.program.gates = append(c.program.gates, compiled)
	return nil
}

// Program gives what was compiled. The compiler is of no use afterwards.
func (c *Compiler) Program() *Program { return c.program }

func (c *Compiler) compile(source string) (cel.Program, *types.Type, *Fault) {
	if n := len(source); n == 0 || n > MaxExpressionBytes {
		return nil, nil, &Fault{Message: fmt.Sprintf("the expression is %d bytes and must be 1 to %d", n, MaxExpressionBytes), source: source}
	}
	environment, err := standard().Extend(c.variables...)
	if err != nil {
		return nil, nil, &Fault{Message: "the names that it may use contradict each other", Explanation: err.Error(), source: source}
	}
	parsed, issues := environment.Parse(source)
	if issues.Err() != nil {
		return nil, nil, faultOf(source, "this is not CEL, or nested too deep", issues)
	}
	walk := &reader{compiler: c, info: parsed.NativeRep().SourceInfo(), source: source}
	if walk.expression(parsed.NativeRep().Expr()); walk.fault != nil {
		return nil, nil, walk.fault
	}
	checked, issues := environment.Check(parsed)
	if issues.Err() != nil {
		return nil, nil, faultOf(source, "the types do not fit together", issues)
	}
	program, err := environment.Program(checked, cel.CustomDecoratorV2(decorate))
	if err != nil {
		return nil, nil, &Fault{Message: "the expression cannot be evaluated", Explanation: err.Error(), source: source}
	}
	return program, checked.OutputType(), nil
}

// reader looks through an expression for what the white list has not.
type reader struct {
	compiler *Compiler
	info     *ast.SourceInfo
	source   string
	local    []string // variables of the macros around
	fault    *Fault   // the first
}

func (r *reader) refuse(at ast.Expr, format string, args ...any) {
	if r.fault != nil {
		return
	}
	location := r.info.GetStartLocation(at.ID())
	r.fault = &Fault{Line: location.Line(), Column: location.Column() + 1, Message: fmt.Sprintf(format, args...), source: r.source}
}

func (r *reader) expression(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind:
		r.identifier(e)
	case ast.SelectKind:
		r.selection(e)
	case ast.CallKind:
		r.call(e)
	case ast.ListKind:
		for _, element := range e.AsList().Elements() {
			r.expression(element)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			r.expression(entry.AsMapEntry().Key())
			r.expression(entry.AsMapEntry().Value())
		}
	case ast.ComprehensionKind:
		r.comprehension(e.AsComprehension())
	case ast.LiteralKind:
	default:
		r.refuse(e, "a message cannot be made here; write an object with { and }")
	}
}

func (r *reader) identifier(e ast.Expr) {
	name := e.AsIdent()
	if !slices.Contains(r.local, name) && !r.compiler.known[name] && !slices.Contains(typeNames, name) {
		r.refuse(e, "nothing is called %s here", quote(name))
	}
}

func (r *reader) selection(e ast.Expr) {
	selected := e.AsSelect()
	operand := selected.Operand()
	if operand.Kind() == ast.IdentKind && !slices.Contains(r.local, operand.AsIdent()) {
		name := operand.AsIdent()
		members := memberNames[name]
		if name == varFacts && r.compiler.known[varFacts] {
			members = r.compiler.facts
			if members == nil {
				members = []string{}
			}
		}
		if members != nil && r.compiler.known[name] && !slices.Contains(members, selected.FieldName()) {
			r.refuse(e, "%s has no member %s here", name, quote(selected.FieldName()))
		}
	}
	r.expression(operand)
}

func (r *reader) call(e ast.Expr) {
	call := e.AsCall()
	name := call.FunctionName()
	if call.IsMemberFunction() {
		if target := call.Target(); target.Kind() == ast.IdentKind && target.AsIdent() == "strings" && !slices.Contains(r.local, "strings") {
			name = "strings." + name
		} else {
			r.expression(target)
		}
	}
	if !allowed()[name] {
		r.refuse(e, "no function is called %s here", quote(name))
	}
	for _, argument := range call.Args() {
		r.expression(argument)
	}
	if name == "matches" {
		r.pattern(e, call)
	}
}

// pattern holds that a pattern is written out, so that it is compiled once and
// its size is known.
func (r *reader) pattern(e ast.Expr, call ast.CallExpr) {
	args := call.Args()
	if len(args) == 0 {
		return
	}
	last := args[len(args)-1]
	text, isText := "", false
	if last.Kind() == ast.LiteralKind {
		text, isText = last.AsLiteral().Value().(string)
	}
	if !isText {
		r.refuse(e, "the pattern of matches must be written out as a string")
		return
	}
	if _, ok := patternSize(text); !ok {
		r.refuse(last, "the pattern of matches is no regular expression (RE2), or larger than %d steps", maxPatternInstructions)
	}
}

func (r *reader) comprehension(c ast.ComprehensionExpr) {
	r.expression(c.IterRange())
	r.expression(c.AccuInit())
	scope := len(r.local)
	r.local = append(r.local, c.IterVar(), c.AccuVar())
	r.expression(c.LoopCondition())
	r.expression(c.LoopStep())
	r.expression(c.Result())
	r.local = r.local[:scope]
}
