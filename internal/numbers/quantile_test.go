package numbers

import (
	"math"
	"testing"
)

// TestStudentQuantile puts the quantiles into the closed form of the
// distribution (Abramowitz and Stegun 26.7.3 and 26.7.4), which needs no
// special function.
func TestStudentQuantile(t *testing.T) {
	for freedom := 1; freedom <= 400; freedom++ {
		got := closedStudent(studentQuantile(upper, freedom), freedom)
		if math.Abs(got-(1-alpha)) > 1e-13 {
			t.Errorf("%d degrees of freedom: %.17g of the distribution is within", freedom, got)
		}
	}
}

// closedStudent is P(|T| ≤ t).
func closedStudent(t float64, freedom int) float64 {
	angle := math.Atan(t / math.Sqrt(float64(freedom)))
	cosine := math.Cos(angle)
	term, sum := 1.0, 1.0
	if freedom%2 == 0 {
		for k := 1; k < freedom/2; k++ {
			term *= float64(2*k-1) / float64(2*k) * cosine * cosine
			sum += term
		}
		return math.Sin(angle) * sum
	}
	if freedom == 1 {
		return 2 * angle / math.Pi
	}
	for k := 1; k < (freedom-1)/2; k++ {
		term *= float64(2*k) / float64(2*k+1) * cosine * cosine
		sum += term
	}
	return 2 / math.Pi * (angle + math.Sin(angle)*cosine*sum)
}
