// Package policycel decides by expressions in CEL, the Common Expression
// Language: what a policy's facts and gates say of a cell's documents.
//
// It is pure, and the same everywhere: functions come from a white list without
// clock, randomness and time zones; an object is walked in the code-point order
// of its names; and each evaluation ends at a cost that does not depend on the
// machine. No word of the library leaves it but in [Fault.Explanation], which
// is for the person who writes a policy and for nobody's record.
//
// The package is the language cel/1: one version of cel.dev/cel-go and the
// prices of this package. What decides or counts otherwise is another language.
package policycel
