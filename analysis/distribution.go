package analysis

import (
	"math"
	"time"

	"queuebench/stats"
)

// Distribution is one latency of a step after the cut, at the resolution of
// the digest's histograms: what a percentile spectrum is drawn from.
type Distribution struct {
	Step, Repeat int
	Rate         float64
	Load         Load
	Variant      string
	Kind         Kind
	// Imported: another tool measured it, and it is shown whatever stands behind
	// it.
	Imported bool
	Warmup   time.Duration
	Window   *Window // nil for all after the cut
	// Latency holds the messages that came, Infinite counts the others, which
	// rank above all.
	Latency  stats.Compact
	Infinite int64
	Blocks   int64 // independent ones behind it
}

// DistributionOf is the latency v.Kind of a step after the cut of v. Where none
// can be told (clocks that are not comparable) it is empty.
func DistributionOf(d *Digest, s *StepDigest, v View) Distribution {
	c := cutStep(d, s, v)
	out := Distribution{
		Step: s.Step, Repeat: s.Repeat, Rate: s.Rate, Load: s.load(), Imported: s.imported(), Variant: variant(s), Kind: v.Kind, Warmup: c.warmupEdge, Window: c.windowed(), Blocks: c.blocks,
	}
	if c.tells(v.Kind) && c.latency(v.Kind).N > 0 {
		out.Latency, out.Infinite = c.total[v.Kind], c.never[v.Kind]
	}
	return out
}

// N is the number of messages, those that never came included.
func (d Distribution) N() int64 { return d.Latency.N + d.Infinite }

// Supports tells whether a quantile may be shown as one that was measured.
func (d Distribution) Supports(q float64) bool {
	return d.Imported && d.N() > 0 || stats.Supported(q, d.N(), d.Blocks)
}

// SupportedTo is the highest quantile in [0,1) that the messages support, by
// the rule of stats.MinSamples; 0 with too few blocks or messages for any.
func (d Distribution) SupportedTo() float64 {
	if d.Imported && d.N() > 0 {
		return math.Nextafter(1, 0)
	}
	if d.N() == 0 || d.Blocks < stats.MinBlocks {
		return 0
	}
	return math.Pow(stats.SupportRisk, 1/float64(d.N()))
}
