// Package cli is what both binaries do the same way: read flags and the
// environment, log to standard error, print an error so that a person can act
// on it, and end with the exit code that scripts rely on.
package cli
