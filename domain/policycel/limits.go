package policycel

// Limits of a policy's expressions.
const (
	// MaxExpressionBytes is how long an expression may be.
	MaxExpressionBytes = 2 << 10
	// MaxCost is what all expressions of a policy may cost for one cell.
	MaxCost = 10_000
	// maxNodes is how large an expression may grow when its macros are written out.
	maxNodes = 4_000
	// maxNesting is how deep an expression may nest.
	maxNesting = 64
	// maxPatternInstructions is how large a pattern of matches may be, compiled.
	maxPatternInstructions = 1_000
)

// Prices, in the unit that looking a member up costs. They are part of the
// language: another price is another decision about an expensive cell.
const (
	bytesScanned  = 16 // bytes of text that are read or copied for one unit
	bytesRunes    = 4  // bytes of text that are taken apart into characters
	namesScanned  = 16 // names of an object that are looked through
	priceSorted   = 4  // for each name of an object that is walked
	priceElement  = 3  // for each element that is walked, compared or copied
	searchCompare = 8  // comparisons of characters
	matchSteps    = 16 // steps of matching a pattern
)
