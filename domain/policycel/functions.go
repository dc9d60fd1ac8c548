package policycel

import (
	"slices"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/functions"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/ext"
)

// Functions is the white list: what an expression may call by name, sorted.
// Beside it stand the operators and the macros of CEL's standard library.
func Functions() []string {
	return slices.Clone(functionNames)
}

var functionNames = []string{
	"bool", "bytes", "charAt", "contains", "double", "duration", "dyn", "endsWith", "getDate", "getDayOfMonth", "getDayOfWeek",
	"getDayOfYear", "getFullYear", "getHours", "getMilliseconds", "getMinutes", "getMonth", "getSeconds", "indexOf", "int", "join",
	"lastIndexOf", "lowerAscii", "matches", "replace", "reverse", "size", "split", "startsWith", "string", "strings.quote",
	"substring", "timestamp", "trim", "type", "uint", "upperAscii",
}

// Macros are the macros of the white list.
func Macros() []string { return []string{"all", "exists", "exists_one", "filter", "has", "map"} }

var operatorNames = []string{
	operators.Conditional, operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.Equals, operators.NotEquals,
	operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.Add, operators.Subtract,
	operators.Multiply, operators.Divide, operators.Modulo, operators.Negate, operators.Index, operators.In, operators.NotStrictlyFalse,
}

// allowed are the functions and operators that an expression may call.
var allowed = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, name := range slices.Concat(functionNames, operatorNames) {
		names[name] = true
	}
	return names
})

// typeNames are the types that an expression may name.
var typeNames = []string{"bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"}

// reservedWords cannot be names: CEL's grammar has them.
var reservedWords = []string{
	"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop", "namespace", "null",
	"package", "return", "true", "var", "void", "while",
}

// timeZones are the overloads that read a machine's table of time zones.
var timeZones = map[string]string{
	overloads.TimeGetFullYear:     overloads.TimestampToYearWithTz,
	overloads.TimeGetMonth:        overloads.TimestampToMonthWithTz,
	overloads.TimeGetDayOfYear:    overloads.TimestampToDayOfYearWithTz,
	overloads.TimeGetDayOfMonth:   overloads.TimestampToDayOfMonthZeroBasedWithTz,
	overloads.TimeGetDate:         overloads.TimestampToDayOfMonthOneBasedWithTz,
	overloads.TimeGetDayOfWeek:    overloads.TimestampToDayOfWeekWithTz,
	overloads.TimeGetHours:        overloads.TimestampToHoursWithTz,
	overloads.TimeGetMinutes:      overloads.TimestampToMinutesWithTz,
	overloads.TimeGetSeconds:      overloads.TimestampToSecondsWithTz,
	overloads.TimeGetMilliseconds: overloads.TimestampToMillisecondsWithTz,
}

// stringsVersion is the revision of the strings extension.
const stringsVersion = 5

// standard is the environment that all policies share. It is not changed.
var standard = sync.OnceValue(func() *cel.Env {
	subset := &env.LibrarySubset{}
	for function, overload := range timeZones {
		subset.ExcludeFunctions = append(subset.ExcludeFunctions, env.NewFunction(function, env.NewOverload(overload, nil, nil)))
	}
	environment, err := cel.NewCustomEnv(
		cel.StdLib(cel.StdLibSubset(subset)),
		ext.Strings(ext.StringsVersion(stringsVersion)),
		cel.ParserExpressionSizeLimit(MaxExpressionBytes),
		cel.ParserRecursionLimit(maxNesting),
		cel.ExpressionNodeLimit(maxNodes),
		cel.EnableHiddenAccumulatorName(true),
	)
	if err != nil {
		panic("policycel: no environment: " + err.Error()) // the options are constants
	}
	return environment
})

// implementations are the library's functions by overload and by name.
var implementations = sync.OnceValue(func() map[string]*functions.Overload {
	found := map[string]*functions.Overload{}
	for _, function := range standard().Functions() {
		bindings, err := function.Bindings()
		if err != nil {
			panic("policycel: functions without bindings: " + err.Error())
		}
		for _, binding := range bindings {
			found[binding.Operator] = binding
		}
	}
	return found
})
