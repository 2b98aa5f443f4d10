package analysis

import (
	"fmt"
	"net/url"
	"time"

	"queuebench/stats"
)

// breakdownRecord is a Breakdown without its buckets.
type breakdownRecord struct {
	FromNs int64         `json:"from_ns"`
	ToNs   int64         `json:"to_ns"`
	Left   int64         `json:"left,omitempty"`
	Shares []shareRecord `json:"shares"`
}

type shareRecord struct {
	By     string `json:"by"`
	Key    string `json:"key"`
	Folded int    `json:"folded,omitempty"`
	// Latencies has columns of one value each.
	Latencies map[string]valueColumns `json:"latencies"`
}

// shareTag is the tag of a share's line: a key is escaped as in an address,
// since a tag has neither blanks nor commas.
func (s *StepDigest) shareTag(x *Share, k Kind) string {
	return fmt.Sprintf("step=%d/repeat=%d/by=%s/%s/%s", s.Step, s.Repeat, url.PathEscape(x.By), url.PathEscape(x.Key), k)
}

func newBreakdownRecord(b *Breakdown) (*breakdownRecord, error) {
	if len(b.Shares) == 0 && b.From == 0 && b.To == 0 && b.Left == 0 {
		return nil, nil
	}
	r := &breakdownRecord{FromNs: int64(b.From), ToNs: int64(b.To), Left: b.Left}
	for i := range b.Shares {
		x := &b.Shares[i]
		y := shareRecord{By: x.By, Key: x.Key, Folded: x.Folded, Latencies: map[string]valueColumns{}}
		for k := range NumKinds {
			h := x.Latency[k]
			if err := h.Check(); err != nil {
				return nil, fmt.Errorf("%s of %s %s: %w", k, x.By, x.Key, err)
			}
			if h.N == 0 && x.Infinite[k] == 0 {
				continue
			}
			y.Latencies[k.String()] = valueColumns{N: []int64{h.N}, MinNs: []int64{h.Min}, MaxNs: []int64{h.Max}, SumNs: []float64{h.Sum},
				Infinite: dropZeros([]int64{x.Infinite[k]})}
		}
		r.Shares = append(r.Shares, y)
	}
	return r, nil
}

func (r *breakdownRecord) into(b *Breakdown) error {
	if r == nil {
		return nil
	}
	*b = Breakdown{From: time.Duration(r.FromNs), To: time.Duration(r.ToNs), Left: r.Left}
	for _, y := range r.Shares {
		x := Share{By: y.By, Key: y.Key, Folded: y.Folded}
		for k := range NumKinds {
			v, ok := y.Latencies[k.String()]
			if !ok {
				continue
			}
			if len(v.N) != 1 || len(v.MinNs) != 1 || len(v.MaxNs) != 1 || len(v.SumNs) != 1 || len(v.Infinite) > 1 || v.N[0] < 0 || v.MinNs[0] > v.MaxNs[0] {
				return fmt.Errorf("%s of %s %s: columns of another length than one", k, x.By, x.Key)
			}
			x.Latency[k] = stats.Compact{N: v.N[0], Min: v.MinNs[0], Max: v.MaxNs[0], Sum: v.SumNs[0]}
			if len(v.Infinite) > 0 {
				if x.Infinite[k] = v.Infinite[0]; x.Infinite[k] < 0 {
					return fmt.Errorf("%s of %s %s: %d infinite values", k, x.By, x.Key, x.Infinite[k])
				}
			}
		}
		b.Shares = append(b.Shares, x)
	}
	return nil
}
