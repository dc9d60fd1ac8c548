// Package golden holds what earlier versions of the rules wrote, and the tests
// that hold today's code to it: records, exports, backups, heads and receipts
// must be read, and be written again, byte for byte, for ever. Nothing imports
// it.
package golden
