// Package reading answers the queries of projections.Reader for every store:
// the SQL is the same but for names, parameters and how a column is read.
//
// Model: a store gives a [Snapshot], one state of the views; an answer is read
// from it and from nothing else. Each store's suite holds both to the same
// answers.
package reading
