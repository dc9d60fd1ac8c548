// Package disk tells how much room a file system has.
package disk

import "github.com/cockroachdb/errors"

// ErrUnknown: this system does not tell how much room there is.
var ErrUnknown = errors.New("disk: free space is not known on this system")
