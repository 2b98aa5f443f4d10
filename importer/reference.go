package importer

import (
	"fmt"
	"math"
	"slices"

	"queuebench/analysis"
	"queuebench/rawlog"
	"queuebench/stats"
)

// maxPoints bounds the rows of a reference: 100,000 s of a run.
const maxPoints = 100_000

var errPoints = fmt.Errorf("more than %d rows", maxPoints)

// reference is a digest that has references only.
func (s *source) reference(tool string, rs ...analysis.Reference) (*analysis.Digest, error) {
	d := s.digest(tool, rawlog.Import{})
	d.References = rs
	return d, nil
}

// distribution is a printed percentile distribution: values with the number of
// samples up to each.
type distribution struct {
	rows []distributionRow // ascending
	p    analysis.ReferencePoint
}

type distributionRow struct {
	percent string
	ns      int64
	count   int64
}

// point is what the rows carry: their own percentiles, and those of want that
// their counts settle. A percentile whose nearest rank is the count of a row has
// that row's value; one between two rows is at most that of the upper one.
func (t *distribution) point(want []float64) analysis.ReferencePoint {
	p := t.p
	if p.Percentiles == nil {
		p.Percentiles = map[string]analysis.ReferenceValue{}
	}
	for _, r := range t.rows {
		p.Percentiles[r.percent] = analysis.ReferenceValue{Ns: r.ns}
	}
	if len(t.rows) == 0 || t.rows[len(t.rows)-1].count <= 0 {
		return p
	}
	n := t.rows[len(t.rows)-1].count
	p.N = n
	for _, percent := range want {
		rank := stats.Rank(stats.FromPercent(percent), n)
		i, _ := slices.BinarySearchFunc(t.rows, rank, func(r distributionRow, rank int64) int {
			if r.count < rank {
				return -1
			}
			return 1
		})
		if i == len(t.rows) {
			continue
		}
		settled := t.rows[i].count == rank || i > 0 && t.rows[i-1].ns == t.rows[i].ns
		key := analysis.FormatPercent(percent)
		if have, ok := p.Percentiles[key]; ok && (!settled || have.AtMost) {
			continue // the file's own
		}
		p.Percentiles[key] = analysis.ReferenceValue{Ns: t.rows[i].ns, AtMost: !settled}
	}
	return p
}

// lookedUp are the percentiles that are looked up in a distribution.
var lookedUp = []float64{50, 75, 85, 90, 95, 99, 99.9, 99.99}

// percentOf is the percent of a quantile's text, without the noise of floats.
func percentOf(quantile string) (string, error) {
	q, err := number(quantile)
	if err != nil || q < 0 || q > 1 {
		return "", fmt.Errorf("%.40q is no quantile", quantile)
	}
	return analysis.FormatPercent(math.Round(q*1e12) / 1e10), nil
}
