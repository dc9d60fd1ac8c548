package numbers

import "gonum.org/v1/gonum/stat/distuv"

// Quantiles. gonum's distribution functions are good to the last digits, its
// inverses only to eight or nine: they are where a bisection starts.

// studentQuantile is t(p, freedom), the quantile of Student's distribution.
func studentQuantile(p float64, freedom int) float64 {
	dist := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}
	if p > 0.5 { // the lower tail has more digits
		return -studentQuantile(1-p, freedom)
	}
	guess := dist.Quantile(p)
	return bisect(dist.CDF, p, guess*(1+guessOff), guess*(1-guessOff))
}

// betaQuantile is Beta⁻¹(p; a, b).
func betaQuantile(p, a, b float64) float64 {
	dist := distuv.Beta{Alpha: a, Beta: b}
	low, high := 0.0, 1.0
	if guess := dist.Quantile(p); guess > 0 && guess < 1 {
		if under := guess * (1 - guessOff); dist.CDF(under) < p {
			low = under
		}
		if over := guess + (1-guess)*guessOff; dist.CDF(over) >= p {
			high = over
		}
	}
	return bisect(dist.CDF, p, low, high)
}

// guessOff is how far off an inverse of gonum's may be, and more.
const guessOff = 1e-6

// bisect finds where a distribution function reaches p, to the last digit.
func bisect(cdf func(float64) float64, p, low, high float64) float64 {
	for {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			return high
		}
		if cdf(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
}
