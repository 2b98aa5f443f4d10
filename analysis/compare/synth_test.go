package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/stats"
)

// spec is a run that never ran.
type spec struct {
	run       string
	rates     []float64 // of its steps; 1,000 where it is nil
	repeats   int
	settings  map[string]string
	intervals int     // of 500 ms; 40 where it is 0
	perPiece  int     // messages in an interval; 60 where it is 0
	level     float64 // of the median, ns
	tail      float64 // the tail beyond p90 is so many times longer; 1 where it is 0
	between   float64 // standard deviation between repeats
	wander    float64 // standard deviation of the level within one
	memory    float64 // autocorrelation of that, from interval to interval
	lost      int64   // of each interval
}

// digest draws a run: log-normal latencies around a level that differs from
// repeat to repeat, and wanders within one.
func (s spec) digest(r *rand.Rand) *analysis.Digest {
	if s.rates == nil {
		s.rates = []float64{1000}
	}
	for _, v := range []struct {
		to *int
		by int
	}{{&s.repeats, 1}, {&s.intervals, 40}, {&s.perPiece, 60}} {
		if *v.to == 0 {
			*v.to = v.by
		}
	}
	if s.tail == 0 {
		s.tail = 1
	}
	const piece = 500 * time.Millisecond
	d := &analysis.Digest{Manifest: rawlog.Manifest{
		Schema: rawlog.SchemaVersion, Run: s.run, Complete: true, StartedNs: 1_700_000_000e9, Settings: s.settings,
		Program: rawlog.Program{Name: "bench", Version: "v1.0.0", Go: "go1.26"},
		Host:    rawlog.Host{Name: "one", OS: "linux", Arch: "amd64", CPUs: 2},
		Queue:   queue.Info{Kind: "test", Partitions: 1, LosesNothing: true, DeliversOnce: true},
	}}
	var counter stats.Counter
	for i, rate := range s.rates {
		for repeat := range s.repeats {
			st := analysis.StepDigest{Step: i, Repeat: repeat, Rate: rate, Settings: map[string]string{"rate": strconv.FormatFloat(rate, 'f', -1, 64)},
				Complete: true, StartNs: 1_700_000_000e9, Duration: time.Duration(s.intervals) * piece, Interval: piece}
			level := s.level * math.Exp(s.between*r.NormFloat64())
			drift := s.wander * r.NormFloat64()
			for k := range s.intervals {
				drift = s.memory*drift + math.Sqrt(1-s.memory*s.memory)*s.wander*r.NormFloat64()
				iv := analysis.Interval{Start: time.Duration(k) * piece, End: time.Duration(k+1) * piece, Scheduled: int64(s.perPiece) + s.lost}
				for range s.perPiece {
					z := 0.3 * r.NormFloat64()
					v := level * math.Exp(drift+z)
					if z > 0.3844 { // beyond p90
						v *= s.tail
					}
					if err := counter.Record(int64(v)); err != nil {
						panic(err)
					}
				}
				iv.Latency[analysis.EndToEnd] = counter.Take().Coarse() // as digests have it
				iv.Infinite[analysis.EndToEnd] = s.lost
				st.Intervals = append(st.Intervals, iv)
				st.Accounting.Scheduled += iv.Scheduled
				st.Accounting.Received += int64(s.perPiece)
				st.Accounting.Lost += s.lost
			}
			a := &st.Accounting
			a.Attempted, a.Acked, a.RecordsUsed = a.Scheduled, a.Scheduled, a.Scheduled
			for range s.intervals / 2 {
				st.ReceivedPerSecond = append(st.ReceivedPerSecond, int64(2*s.perPiece))
			}
			d.Steps = append(d.Steps, st)
			d.Manifest.Steps = append(d.Manifest.Steps, rawlog.Step{Step: i, Repeat: repeat, Rate: rate, Settings: st.Settings,
				StartedNs: st.StartNs, DurationNs: int64(st.Duration), DeadlineNs: st.StartNs + int64(st.Duration) + 30e9,
				Producers: 1, Groups: []string{"g"}, Complete: true,
				Accounting: rawlog.Accounting{Scheduled: a.Scheduled, Attempted: a.Attempted, Acked: a.Acked, Received: a.Received, Lost: a.Lost}})
		}
	}
	return d
}

// side is so many runs of a spec.
func (s spec) side(r *rand.Rand, label string, runs int) Side {
	out := Side{Label: label}
	for i := range runs {
		x := s
		x.run = fmt.Sprintf("%s-%d", label, i)
		out.Runs = append(out.Runs, x.digest(r))
	}
	return out
}

// uncut is the view without a warm-up.
func uncut(percentiles ...float64) analysis.View {
	none := time.Duration(0)
	return analysis.View{Warmup: &none, Percentiles: percentiles}
}

func compared(t *testing.T, v analysis.View, sides ...Side) *Result {
	t.Helper()
	r, err := Compare(sides, Options{View: v})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// called tells whether any of a comparison's tests called something changed.
func called(r *Result) (any, p99 bool) {
	for _, row := range r.rows() {
		if row.Verdict == Changed || row.Verdict == WithinOnly {
			any = true
			p99 = p99 || row.Percentile == "99"
		}
	}
	return any, p99
}
