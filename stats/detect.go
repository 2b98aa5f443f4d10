package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// detectDraws is how many pairs of samples DetectableShift draws: its result is
// within some 3 % then.
const detectDraws = 1000

// DetectableShift is the shift, in standard deviations of normal samples of m and
// n values, that MannWhitney shows at the two-sided level alpha with the chance
// power; +Inf where no shift is shown, however large. Drawn with a fixed seed.
func DetectableShift(m, n int, alpha, power float64) float64 {
	k := rankCut(m, n, alpha)
	if k < 0 {
		return math.Inf(1)
	}
	r := rand.New(rand.NewPCG(uint64(m), uint64(n)))
	x, y, d := make([]float64, m), make([]float64, n), make([]float64, 0, m*n)
	needed := make([]float64, detectDraws)
	for i := range needed {
		for j := range x {
			x[j] = r.NormFloat64()
		}
		for j := range y {
			y[j] = r.NormFloat64()
		}
		d = d[:0]
		for _, a := range x {
			for _, b := range y {
				d = append(d, b-a)
			}
		}
		slices.Sort(d)
		needed[i] = -d[k] // moved up by more than this, the test refuses
	}
	slices.Sort(needed)
	return needed[min(detectDraws-1, int(math.Ceil(power*detectDraws))-1)]
}
