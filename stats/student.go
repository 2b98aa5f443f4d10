package stats

import "math"

// NormalQuantile is the quantile p in (0,1) of the standard normal distribution.
func NormalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// StudentCDF is the probability that Student's t with df ≥ 1 degrees of freedom
// is at most t, by the finite series for whole df (Abramowitz and Stegun,
// 26.7.3 and 26.7.4).
func StudentCDF(t float64, df int) float64 {
	if math.IsInf(t, 0) {
		return (1 + math.Copysign(1, t)) / 2
	}
	theta := math.Atan(t / math.Sqrt(float64(df)))
	sin, cos := math.Sincos(theta)
	var a float64 // P(|T| ≤ |t|) with the sign of t
	if df%2 == 1 {
		term, sum := cos, 0.0
		for k := 3; k <= df; k += 2 {
			sum += term
			term *= cos * cos * float64(k-1) / float64(k)
		}
		a = 2 / math.Pi * (theta + sin*sum)
	} else {
		term, sum := 1.0, 0.0
		for k := 2; k <= df; k += 2 {
			sum += term
			term *= cos * cos * float64(k-1) / float64(k)
		}
		a = sin * sum
	}
	return (1 + a) / 2
}

// StudentQuantile is the quantile p in (0,1) of Student's t with df ≥ 1 degrees
// of freedom.
func StudentQuantile(p float64, df int) float64 {
	if p < 0.5 {
		return -StudentQuantile(1-p, df)
	}
	low, high := 0.0, 1.0
	for StudentCDF(high, df) < p && high < 1e12 {
		high *= 2
	}
	for range 100 {
		if middle := (low + high) / 2; StudentCDF(middle, df) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}
