package analysis

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

// DigestSchema is the schema of a digest: a standard HdrHistogram interval log
// with the tag step=S/repeat=R/LATENCY on each line (/negative for the mirrored
// histogram of negative values; own_lag is the runner's own share of the send
// lag), or step=S/repeat=R/by=DIMENSION/KEY/LATENCY for what a step is broken
// down by, and comment lines "#[queuebench.digest/1 WORD JSON]" for what that
// format cannot carry. WORD is manifest (first), reference (after it), step
// (before the lines of that step) or end (last).
const DigestSchema = "queuebench.digest/1"

const (
	digestPrefix = "queuebench.digest/"
	tagNegative  = "/negative"
	ownName      = "own_lag"
)

// ErrNotDigest: what was read is something else.
var ErrNotDigest = errors.New("not a queuebench digest")

// digestEnd closes a digest, so that one that was cut short is noticed.
type digestEnd struct {
	Steps int `json:"steps"`
	Lines int `json:"lines"`
}

// stepRecord is a StepDigest without its buckets, in columns.
type stepRecord struct {
	Step       int               `json:"step"`
	Repeat     int               `json:"repeat"`
	Rate       float64           `json:"rate"`
	Settings   map[string]string `json:"settings"`
	Complete   bool              `json:"complete"`
	Failure    string            `json:"failure,omitempty"`
	NoEndToEnd string            `json:"no_end_to_end,omitempty"`
	Offsets    []ClockOffset     `json:"clock_offsets,omitempty"`
	StartNs    int64             `json:"start_ns"`
	DurationNs int64             `json:"duration_ns"`
	IntervalNs int64             `json:"interval_ns"`
	Accounting Accounting        `json:"accounting"`
	Received   []int64           `json:"received_per_second"`
	Stamps     Stamps            `json:"stamps"`
	Commits    CommitStats       `json:"commits"`
	Stages     []StageStats      `json:"stages,omitempty"`
	PerSecond  *commitColumns    `json:"commits_per_second,omitempty"`
	Seconds    *secondsRecord    `json:"seconds,omitempty"`
	Events     []eventRecord     `json:"events"`
	Intervals  intervalColumns   `json:"intervals"`
	Breakdown  *breakdownRecord  `json:"breakdown,omitempty"`
	Slowest    *slowestRecord    `json:"slowest,omitempty"`
	Fine       *fineRecord       `json:"fine,omitempty"` // of a digest whose intervals were added up
}

type eventRecord struct {
	AtNs       int64  `json:"at_ns"`
	Actor      string `json:"actor"`
	Kind       string `json:"kind"`
	Text       string `json:"text"`
	DurationNs int64  `json:"duration_ns,omitempty"`
}

// intervalColumns have a value per interval, edges_ns one more.
type intervalColumns struct {
	EdgesNs   []int64                 `json:"edges_ns"`
	Scheduled []int64                 `json:"scheduled"`
	Unknown   []int64                 `json:"unknown,omitempty"`    // left out where all are 0
	Parts     []int64                 `json:"parts,omitempty"`      // as above
	BlockedNs []int64                 `json:"blocked_ns,omitempty"` // as above
	OwnIsLag  []bool                  `json:"own_is_lag,omitempty"` // own lag = send lag: it has no line
	Latencies map[string]valueColumns `json:"latencies"`
}

// valueColumns are the exact values beside the histograms of one latency.
type valueColumns struct {
	N        []int64   `json:"n"`
	MinNs    []int64   `json:"min_ns"`
	MaxNs    []int64   `json:"max_ns"`
	SumNs    []float64 `json:"sum_ns"`
	Infinite []int64   `json:"infinite,omitempty"`
}

// series are the histograms of an interval: the latencies and the own lag.
const (
	ownSeries = int(NumKinds)
	numSeries = int(NumKinds) + 1
)

func seriesName(i int) string {
	if i == ownSeries {
		return ownName
	}
	return Kind(i).String()
}

func (iv *Interval) series(i int) *stats.Compact {
	if i == ownSeries {
		return &iv.OwnLag
	}
	return &iv.Latency[i]
}

func (s *StepDigest) tag(series int) string {
	return fmt.Sprintf("step=%d/repeat=%d/%s", s.Step, s.Repeat, seriesName(series))
}

// sameCompact tells whether two histograms are equal.
func sameCompact(a, b stats.Compact) bool {
	if a.N != b.N || a.Min != b.Min || a.Max != b.Max || a.Sum != b.Sum || len(a.Buckets) != len(b.Buckets) {
		return false
	}
	if len(a.Buckets) > 0 && &a.Buckets[0] == &b.Buckets[0] {
		return true
	}
	for i := range a.Buckets {
		if a.Buckets[i] != b.Buckets[i] {
			return false
		}
	}
	return true
}

func newStepRecord(s *StepDigest) (*stepRecord, error) {
	r := &stepRecord{
		Step: s.Step, Repeat: s.Repeat, Rate: s.Rate, Settings: s.Settings, Complete: s.Complete,
		Failure: s.Failure, NoEndToEnd: s.NoEndToEnd, Offsets: s.ClockOffsets, StartNs: s.StartNs,
		DurationNs: int64(s.Duration), IntervalNs: int64(s.Interval), Accounting: s.Accounting,
		Received: s.ReceivedPerSecond, Stamps: s.Stamps, Commits: s.Commits, Stages: s.Stages, Fine: newFineRecord(s.Fine), PerSecond: newCommitColumns(s), Seconds: newSecondsRecord(s),
	}
	var err error
	if r.Breakdown, err = newBreakdownRecord(&s.Breakdown); err != nil {
		return nil, err
	}
	r.Slowest = newSlowestRecord(s.Slowest)
	for _, e := range s.Events {
		r.Events = append(r.Events, eventRecord{int64(e.At), e.Actor, e.Kind, e.Text, int64(e.Duration)})
	}
	c := &r.Intervals
	c.Latencies = map[string]valueColumns{}
	for i := range s.Intervals {
		iv := &s.Intervals[i]
		if i == 0 {
			c.EdgesNs = append(c.EdgesNs, int64(iv.Start))
		} else if iv.Start != s.Intervals[i-1].End {
			return nil, fmt.Errorf("interval %d begins at %s, the one before it ends at %s", i, iv.Start, s.Intervals[i-1].End)
		}
		c.EdgesNs = append(c.EdgesNs, int64(iv.End))
		c.Scheduled = append(c.Scheduled, iv.Scheduled)
		c.Unknown = append(c.Unknown, iv.Unknown)
		c.Parts = append(c.Parts, iv.Parts)
		c.BlockedNs = append(c.BlockedNs, int64(iv.Blocked))
		c.OwnIsLag = append(c.OwnIsLag, iv.OwnLag.N > 0 && sameCompact(iv.OwnLag, iv.Latency[SendLag]))
	}
	c.Unknown, c.BlockedNs, c.Parts = dropZeros(c.Unknown), dropZeros(c.BlockedNs), dropZeros(c.Parts)
	for k := range numSeries {
		var v valueColumns
		used := false
		for i := range s.Intervals {
			iv := &s.Intervals[i]
			h := *iv.series(k)
			if err := h.Check(); err != nil {
				return nil, fmt.Errorf("%s of interval %d: %w", seriesName(k), i, err)
			}
			if k == ownSeries && c.OwnIsLag[i] {
				h = stats.Compact{}
			}
			used = used || h.N > 0
			v.N, v.MinNs, v.MaxNs, v.SumNs = append(v.N, h.N), append(v.MinNs, h.Min), append(v.MaxNs, h.Max), append(v.SumNs, h.Sum)
			if k < ownSeries {
				v.Infinite = append(v.Infinite, iv.Infinite[k])
				used = used || iv.Infinite[k] > 0
			}
		}
		if v.Infinite = dropZeros(v.Infinite); used {
			c.Latencies[seriesName(k)] = v
		}
	}
	return r, nil
}

func dropZeros(x []int64) []int64 {
	for _, v := range x {
		if v != 0 {
			return x
		}
	}
	return nil
}

// stepDigest turns a record back, with histograms that have no buckets yet.
func (r *stepRecord) stepDigest() (*StepDigest, error) {
	c := &r.Intervals
	n := len(c.Scheduled)
	fits := func(k int) bool { return k == n || k == 0 }
	if n > 0 && len(c.EdgesNs) != n+1 || n == 0 && len(c.EdgesNs) > 0 || !fits(len(c.Unknown)) || !fits(len(c.Parts)) || !fits(len(c.BlockedNs)) || !fits(len(c.OwnIsLag)) {
		return nil, fmt.Errorf("%d intervals with columns of other lengths", n)
	}
	if math.IsNaN(r.Rate) || r.DurationNs < 0 || r.IntervalNs < 0 {
		return nil, fmt.Errorf("a duration of %d ns in intervals of %d ns", r.DurationNs, r.IntervalNs)
	}
	s := &StepDigest{
		Step: r.Step, Repeat: r.Repeat, Rate: r.Rate, Settings: r.Settings, Complete: r.Complete,
		Failure: r.Failure, NoEndToEnd: r.NoEndToEnd, ClockOffsets: r.Offsets, StartNs: r.StartNs,
		Duration: time.Duration(r.DurationNs), Interval: time.Duration(r.IntervalNs), Accounting: r.Accounting,
		ReceivedPerSecond: r.Received, Stamps: r.Stamps, Commits: r.Commits, Stages: r.Stages,
	}
	if err := checkStages(r.Stages); err != nil {
		return nil, err
	}
	if err := errors.Join(r.Seconds.into(s), r.PerSecond.into(s), r.Breakdown.into(&s.Breakdown), r.Slowest.into(s)); err != nil {
		return nil, err
	}
	for _, e := range r.Events {
		s.Events = append(s.Events, Event{time.Duration(e.AtNs), e.Actor, e.Kind, e.Text, time.Duration(e.DurationNs)})
	}
	if n > 0 {
		s.Intervals = make([]Interval, n)
	}
	for i := range s.Intervals {
		iv := &s.Intervals[i]
		iv.Start, iv.End = time.Duration(c.EdgesNs[i]), time.Duration(c.EdgesNs[i+1])
		if iv.End <= iv.Start || iv.Start < 0 {
			return nil, fmt.Errorf("interval %d goes from %s to %s", i, iv.Start, iv.End)
		}
		iv.Scheduled = c.Scheduled[i]
		if len(c.Unknown) > 0 {
			iv.Unknown = c.Unknown[i]
		}
		if len(c.Parts) > 0 {
			if iv.Parts = c.Parts[i]; iv.Parts < 0 {
				return nil, fmt.Errorf("interval %d of %d parts", i, iv.Parts)
			}
		}
		if len(c.BlockedNs) > 0 {
			iv.Blocked = time.Duration(c.BlockedNs[i])
		}
	}
	for k := range numSeries {
		v, ok := c.Latencies[seriesName(k)]
		if !ok {
			continue
		}
		if len(v.N) != n || len(v.MinNs) != n || len(v.MaxNs) != n || len(v.SumNs) != n || !fits(len(v.Infinite)) {
			return nil, fmt.Errorf("%s: %d intervals with columns of other lengths", seriesName(k), n)
		}
		for i := range s.Intervals {
			iv := &s.Intervals[i]
			if v.N[i] < 0 || v.MinNs[i] > v.MaxNs[i] {
				return nil, fmt.Errorf("%s of interval %d: %d values from %d to %d ns", seriesName(k), i, v.N[i], v.MinNs[i], v.MaxNs[i])
			}
			*iv.series(k) = stats.Compact{N: v.N[i], Min: v.MinNs[i], Max: v.MaxNs[i], Sum: v.SumNs[i]}
			if k < ownSeries && len(v.Infinite) > 0 {
				if iv.Infinite[k] = v.Infinite[i]; v.Infinite[i] < 0 {
					return nil, fmt.Errorf("%s of interval %d: %d infinite values", seriesName(k), i, v.Infinite[i])
				}
			}
		}
	}
	return s, r.Fine.into(s)
}

func marshalComment(word string, v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "[%s %s %s]", DigestSchema, word, b), nil
}

// withoutParts is the manifest as a digest keeps it.
func withoutParts(m rawlog.Manifest) rawlog.Manifest {
	steps := make([]rawlog.Step, len(m.Steps))
	copy(steps, m.Steps)
	for i := range steps {
		steps[i].Parts = nil
	}
	if len(m.Steps) > 0 {
		m.Steps = steps
	}
	return m
}
