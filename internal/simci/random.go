package simci

import "encoding/hex"

// random is a stream of numbers that depends on where it starts and on nothing
// else (SplitMix64, so that no release of Go changes it).
type random struct{ state uint64 }

const golden = 0x9e3779b97f4a7c15 // 2^64 over the golden ratio, SplitMix64's step

// newRandom starts a stream of its own for each path of numbers.
func newRandom(path ...uint64) *random {
	r := &random{}
	for _, n := range path {
		r.state ^= n + golden
		r.state = r.next()
	}
	return r
}

// named starts a stream for a path of words.
func named(words ...string) *random {
	r := &random{}
	for _, word := range words {
		for i := range len(word) {
			r.state ^= uint64(word[i])
			r.state = r.next()
		}
		r.state = r.next()
	}
	return r
}

func (r *random) next() uint64 {
	r.state += golden
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below gives a number from 0 to n-1. The bias is n in 2^64.
func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// hex gives n lower hex digits.
func (r *random) hex(n int) string {
	raw := make([]byte, (n+1)/2)
	for i := range raw {
		if i%8 == 0 {
			word := r.next()
			for j := i; j < min(i+8, len(raw)); j++ {
				raw[j] = byte(word)
				word >>= 8
			}
		}
	}
	return hex.EncodeToString(raw)[:n]
}

// shuffle puts list into a random order.
func shuffle[T any](r *random, list []T) {
	for i := len(list) - 1; i > 0; i-- {
		j := r.below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}
