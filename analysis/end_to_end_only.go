package analysis

import "queuebench/stats"

// keepEndToEnd drops what a reading of the end-to-end latency alone does not
// know.
func (s *StepDigest) keepEndToEnd() {
	for i := range s.Intervals {
		iv := &s.Intervals[i]
		iv.OwnLag, iv.Blocked = stats.Compact{}, 0
		keepKind(&iv.Latency, &iv.Infinite)
	}
	for i := range s.Breakdown.Shares {
		keepKind(&s.Breakdown.Shares[i].Latency, &s.Breakdown.Shares[i].Infinite)
	}
}

func keepKind(latency *[NumKinds]stats.Compact, infinite *[NumKinds]int64) {
	for k := range latency {
		if Kind(k) != EndToEnd {
			latency[k], infinite[k] = stats.Compact{}, 0
		}
	}
}
