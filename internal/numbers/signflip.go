package numbers

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// What is still counted exactly; beyond either it is Method normal.
const (
	ExactPairs = 2000      // scenarios that moved
	ExactSum   = 1_000_000 // of the moves, in parts of the common slot
)

// Method says how a p was found.
type Method string

// The methods.
const (
	MethodExact  Method = "exact"
	MethodNormal Method = "normal"
)

// signFlip is the two-sided sign-flip permutation test by scenario (Fisher, The
// Design of Experiments, 1935, §21): with a_i = |d_i|·L whole, L the least
// common multiple of all slot counts, the share of the 2^z sign choices of the
// z non-zero a_i with |Σ ± a_i| ≥ |Σ d_i·L|. With one slot a scenario it is
// McNemar's exact test. p is exact for MethodExact; for MethodNormal it is the
// float of 2·Φ(−|Σ d_i|/√Σ d_i²).
func signFlip(moves []*big.Int) (p *big.Rat, method Method) {
	total, sum, squares := new(big.Int), new(big.Int), new(big.Int)
	var moved []*big.Int
	for _, move := range moves {
		if move.Sign() == 0 {
			continue
		}
		size := new(big.Int).Abs(move)
		moved = append(moved, size)
		total.Add(total, move)
		sum.Add(sum, size)
		squares.Add(squares, new(big.Int).Mul(size, size))
	}
	total.Abs(total)
	if len(moved) > ExactPairs || sum.Cmp(big.NewInt(ExactSum)) > 0 {
		ratio := new(big.Rat).SetFrac(total.Mul(total, total), squares)
		return new(big.Rat).SetFloat64(math.Erfc(math.Sqrt(toFloat(ratio) / 2))), MethodNormal
	}
	if total.Sign() == 0 {
		return big.NewRat(1, 1), MethodExact // every choice is as far off
	}
	// |Σ ± a| ≥ T is, on each side, a subset that sums to at most (S − T)/2.
	sizes := make([]int, len(moved))
	for i, size := range moved {
		sizes[i] = int(size.Int64())
	}
	most := int(sum.Sub(sum, total).Int64()) / 2
	choices := subsets(sizes, most)
	choices.Lsh(choices, 1)
	return new(big.Rat).SetFrac(choices, new(big.Int).Lsh(big.NewInt(1), uint(len(sizes)))), MethodExact
}

// subsets counts the subsets of sizes that sum to at most most. Two halves are
// counted each by itself, which needs numbers of half the length.
func subsets(sizes []int, most int) *big.Int {
	sizes = slices.Sorted(slices.Values(sizes))
	divisor := 0
	for _, size := range sizes {
		divisor = gcd(divisor, size)
	}
	var halves [2][]int
	for i, size := range sizes {
		halves[i%2] = append(halves[i%2], size/divisor)
	}
	most /= divisor
	first, second := bySum(halves[0], most), bySum(halves[1], most)
	total, upTo := new(big.Int), new(big.Int)
	var term big.Int
	// Where one half sums to i, the other sums to at most most − i.
	for i, j := most, 0; i >= 0; i, j = i-1, j+1 {
		upTo.Add(upTo, second.at(j))
		total.Add(total, term.Mul(first.at(i), upTo))
	}
	return total
}

// polynomial is Π (1 + x^size): the coefficient of x^s is how many subsets sum
// to s. All are kept in one number, each in the same number of words, so that a
// factor is a shift and an addition (Kronecker's substitution).
type polynomial struct {
	packed []big.Word
	words  int // a coefficient
	item   big.Int
}

func bySum(sizes []int, most int) *polynomial {
	p := &polynomial{words: len(sizes)/bits.UintSize + 1}
	width := uint(p.words * bits.UintSize)
	packed, shifted := big.NewInt(1), new(big.Int)
	for _, size := range sizes {
		if size > most {
			break // in ascending order: no later one fits either
		}
		packed.Add(packed, shifted.Lsh(packed, uint(size)*width))
		if kept := (most + 1) * p.words; len(packed.Bits()) > kept {
			packed.SetBits(packed.Bits()[:kept])
		}
	}
	p.packed = packed.Bits()
	return p
}

// at is a coefficient, valid until the next call.
func (p *polynomial) at(sum int) *big.Int {
	from := min(sum*p.words, len(p.packed))
	to := min(from+p.words, len(p.packed))
	return p.item.SetBits(p.packed[from:to:to])
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
