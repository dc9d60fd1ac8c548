// Package canonicaljson prints a JSON value in the one form that digests are
// taken over: no insignificant space, numbers and strings as JavaScript's
// JSON.stringify prints them, members in the order of [Append].
package canonicaljson
