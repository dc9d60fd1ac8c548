//go:build !linux && !darwin

package disk

// Free always answers [ErrUnknown] here.
func Free(string) (int64, error) { return 0, ErrUnknown }
