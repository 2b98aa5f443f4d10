package analysis

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"queuebench/rawlog"
	"queuebench/stats"
)

// runnersExamples are those of docs/method.md that other tests compute: those of the
// runner and of its search, and of what has to be read from a log.
var runnersExamples = []string{"instrument", "schedule", "open messages", "search", "order"}

// counted1s makes a joiner of a step of one second.
func counted1s() (*StepDigest, *joiner) {
	s := &StepDigest{StartNs: testStart, Duration: sec, Interval: sec, Complete: true, Intervals: newIntervals(sec, sec, nil)}
	j := newJoiner(s, []string{"g"})
	j.maxSeq, j.sentWhole, j.receivedWhole = 100, true, true
	return s, j
}

func yes(ok bool, is, not string) string {
	if ok {
		return is
	}
	return not
}

// moreExamples: see methodExamples.
var moreExamples = map[string]func(t *testing.T, in string) string{
	"latencies": func(t *testing.T, in string) string {
		x := numbers(t, in)
		at := func(i int) int64 { return testStart + int64(x[i]*1e6) }
		s, j := counted1s()
		j.row(0, 0, at(0), at(1), at(2), 0, rawlog.Acked)
		j.delivery(0, 0, 0, at(4), at(3))
		j.finish()
		of := func(k Kind) string { return FormatLatency(s.Intervals[0].Latency[k].Max) }
		return fmt.Sprintf("end-to-end %s, from send %s, publish %s, send lag %s, broker to consumer %s", of(EndToEnd), of(EndToEndFromSend), of(Publish), of(SendLag), of(BrokerToConsumer))
	},
	"intervals": func(t *testing.T, in string) string {
		levels := numbers(t, afterColon(in))
		each, n := 100, 40
		s := synthStep(t, 0, float64(each), time.Duration(n)*sec, sec, schedule(each*n, float64(each), func(i int, _ time.Duration) time.Duration {
			level := levels[i/each%len(levels)]
			return time.Duration(level*1e6) + time.Duration(i%each)*200*time.Microsecond
		}))
		var text []string
		l := latencyOf(summarizeOne(t, s, all()), EndToEnd)
		for _, p := range []string{"50", "99"} {
			x := l.Percentiles[p]
			text = append(text, fmt.Sprintf("p%s %s, %s", p, x.Text(), cmp.Or(x.IntervalText(), "none")))
		}
		return strings.Join(text, "; ")
	},
	"watermark": func(t *testing.T, in string) string {
		s, j := counted1s()
		x, d := numbers(t, part(in, "due at")), durations(in)
		j.sentWhole, j.receivedWhole = false, false
		for i, ms := range x {
			j.producer(0).watermark = testStart + int64(d[0])
			j.until = testStart + int64(d[0])
			j.row(0, int64(i), testStart+int64(ms*1e6), testStart+int64(ms*1e6), testStart+int64(ms*1e6)+1e6, 0, rawlog.Acked)
		}
		j.delivery(0, 0, 0, testStart+int64(d[0])-1e6, rawlog.Null)
		j.finish()
		a := &s.Accounting
		return fmt.Sprintf("scheduled %d, received %d, lost %d, unknown %d", a.Scheduled, a.Received, a.Lost, a.Unknown)
	},
	"runner-limited": func(t *testing.T, in string) string {
		d := durations(in)
		m := schedule(20_000, 500, steady(d[0]))
		for i := range m {
			if i%50 == 0 {
				m[i].sent, m[i].own = m[i].intended+d[1], d[1]
			}
		}
		f := findingOf(Summarize(with(synthStep(t, 0, 500, 40*sec, 200*ms, m), nil), View{}).Steps[0].Findings, "runner-limited")
		return yes(f != nil, "runner-limited", "not runner-limited")
	},
	"closed": func(t *testing.T, in string) string {
		x, d := numbers(t, in), durations(in)
		n := int(x[2])
		m := schedule(n, float64(n)/(d[1]-d[0]).Seconds(), steady(ms))
		for i := range m {
			for _, at := range []*time.Duration{&m[i].intended, &m[i].sent, &m[i].acked, &m[i].received} {
				*at += d[0]
			}
		}
		digest := with(synthStep(t, 0, float64(n), d[1], d[0], m), nil)
		e := &digest.Manifest.Steps[0]
		e.Loop, e.Mode, e.Workers, e.Concurrency, e.WarmupNs = rawlog.LoopClosed, rawlog.ModeProduce, int(x[0]), int(x[1]), int64(d[0])
		digest.adopt()
		c := newCut(digest, &digest.Steps[0], View{}, detail{})
		return fmt.Sprintf("%.0f operations/s, %d blocks", c.summary.Loop.PerSecond, c.blocks)
	},
	"drain": func(t *testing.T, in string) string {
		x, d := numbers(t, in), durations(in)
		digest := with(calm(t), nil)
		start := digest.Steps[0].StartNs
		digest.Manifest.Steps[0].Drain = &rawlog.Drain{ReleasedNs: start + int64(d[0]), DrainedNs: start + int64(d[1]), Backlog: int64(x[1]), Received: int64(x[3]), PerSecond: x[3] / (d[1] - d[0]).Seconds()}
		digest.adopt()
		s := Summarize(digest, View{}).Steps[0]
		f := findingOf(s.Findings, "draining-a-backlog")
		took := FormatLatency(s.Drain.DrainedNs - s.Drain.ReleasedNs)
		if f == nil || !strings.Contains(f.Text, "gone after "+took) || s.WarmupNs != 0 {
			t.Errorf("%+v", f)
		}
		return fmt.Sprintf("drained in %s at %s messages per second", took, FormatRate(s.PerSecond()))
	},
	"counts": func(t *testing.T, in string) string {
		s, j := counted1s()
		for i := range numbers(t, part(in, "scheduled")) {
			at := testStart + int64(i)*1e6
			j.row(0, int64(i), at, at, at+1e6, 0, rawlog.Acked)
		}
		for i, seq := range numbers(t, part(in, "received")) {
			j.delivery(0, 0, int64(seq), testStart+1e8+int64(i)*1e6, rawlog.Null)
		}
		j.finish()
		a := s.Accounting
		return fmt.Sprintf("received %d, duplicates %d, foreign %d, lost %d", a.Received, a.Duplicates, a.Foreign, a.Lost)
	},
	"unacked": func(t *testing.T, in string) string {
		s, j := counted1s()
		fates := map[int64]rawlog.Status{}
		for name, status := range map[string]rawlog.Status{"acked": rawlog.Acked, "failed": rawlog.Failed, "unconfirmed": rawlog.Unconfirmed} {
			for _, seq := range numbers(t, part(in, name)) {
				fates[int64(seq)] = status
			}
		}
		for i := range int64(len(fates)) {
			at, acked := testStart+i*1e6, int64(rawlog.Null)
			if fates[i] == rawlog.Acked {
				acked = at + 1e6
			}
			j.row(0, i, at, at, acked, 0, fates[i])
		}
		for i, seq := range numbers(t, part(in, "received")) {
			j.delivery(0, 0, int64(seq), testStart+1e8+int64(i)*1e6, rawlog.Null)
		}
		j.finish()
		a := s.Accounting
		return fmt.Sprintf("received %d, lost %d, received although not acknowledged %d", a.Received, a.Lost, a.ReceivedUnacked)
	},
	"error": func(t *testing.T, in string) string {
		worst, off := 0.0, int64(0)
		x := numbers(t, in)
		for i, unit := range []time.Duration{1, 1, time.Second, time.Hour, 24 * time.Hour} {
			v := int64(x[i] * float64(unit))
			var c stats.Counter
			for _, w := range []int64{v, v / 2, v + (30*24*int64(time.Hour)-v)/2} { // neither the least nor the largest
				if err := c.Record(w); err != nil {
					t.Fatal(err)
				}
			}
			h := c.Take().Coarse()
			got, _ := h.Quantile(0.5, 0)
			worst = max(worst, math.Abs(float64(got-v))/float64(v))
			var one stats.Counter
			if err := one.Record(v); err != nil {
				t.Fatal(err)
			}
			off = max(off, one.Take().Coarse().Max-v)
		}
		return fmt.Sprintf("off by at most %s %%, as a maximum by %d ns", yes(worst <= 0.002, "0.2", fmt.Sprint(100*worst)), off)
	},
	"never": func(t *testing.T, in string) string {
		x := numbers(t, in)
		m := []msg{}
		for i := range 5 {
			one := msg{intended: time.Duration(i) * ms, sent: time.Duration(i) * ms, acked: time.Duration(i+1) * ms, received: never}
			if i < 3 {
				one.received = one.intended + time.Duration(x[i])*ms
			}
			m = append(m, one)
		}
		d := with(synthStep(t, 0, 5, sec, sec, m), nil)
		d.Manifest.Steps[0].DeadlineNs = d.Steps[0].StartNs + int64(sec+durations(in)[0])
		l := Summarize(d, view(0, 50, 75)).Steps[0].Latencies[EndToEnd.String()]
		return fmt.Sprintf("p50 %s, p75 %s, n %d", FormatLatency(l.Percentiles["50"].Ns), l.Percentiles["75"].Text(), l.N)
	},
	"blocks": func(t *testing.T, in string) string {
		d := durations(in)
		_, commits, _ := strings.Cut(in, ", ")
		digest := with(synthStep(t, 0, 100, d[0], 200*ms, schedule(int(100*d[0].Seconds()), 100, steady(20*ms))), func(x *Digest) {
			x.Manifest.Queue.CommitInterval = d[2]
			x.Steps[0].Commits.Commits = int64(numbers(t, commits)[0])
		})
		return fmt.Sprint(newCut(digest, &digest.Steps[0], view(d[1]), detail{}).blocks)
	},
	"cumulative": func(t *testing.T, in string) string {
		levels := numbers(t, afterColon(in))
		n := time.Duration(len(levels))
		s := synthStep(t, 0, 10, n*sec, sec, schedule(10*len(levels), 10, func(_ int, at time.Duration) time.Duration {
			return time.Duration(levels[at/sec]) * ms
		}))
		text := func(s Series) string {
			var out []string
			for _, p := range s.Points {
				out = append(out, strings.TrimSuffix(FormatLatency(p.Ns[0]), " ms"))
			}
			return strings.Join(out, " ")
		}
		return "p50 of each " + text(SeriesOf(&s, view(0, 50))) + ", cumulative " + text(CumulativeOf(&s, view(0, 50)))
	},
	"consistent": func(t *testing.T, in string) string {
		x := numbers(t, in)
		s := calm(t)
		s.Events = []Event{{At: 10 * sec, Kind: "fault", Text: "x"}}
		d := with(s, func(d *Digest) { counts(d, func(a *Accounting) { a.Lost, a.Duplicates = int64(x[0]), int64(x[1]) }) })
		return yes(Summarize(d, View{}).Steps[0].Recoveries[0].Consistent, "consistent", "not consistent")
	},
	"levels": func(t *testing.T, in string) string {
		x := numbers(t, afterColon(in))
		d := time.Duration(len(x)) * sec
		s := synthStep(t, 0, 100, d, 200*ms, schedule(100*len(x), 100, steady(20*ms)))
		l := Summarize(with(told(s, func(i int64) Second { return Second{Backlog: int64(x[i])} }, "backlog"), nil), all()).Steps[0].Levels["backlog"]
		return fmt.Sprintf("mean %g, sd %g, cov %g, least %g, largest %g, last %g", l.Mean, l.SD, l.CoV, l.Min, l.Max, l.Last)
	},
	"scaling": func(t *testing.T, in string) string {
		what, got, _ := strings.Cut(in, " receive ")
		received := numbers(t, got)
		var steps []StepSummary
		for i, n := range numbers(t, what) {
			steps = append(steps, StepSummary{Step: i, Rate: 5000, Variant: fmt.Sprintf("consumers %g", n), Settings: map[string]string{"consumers": fmt.Sprint(n)}, Throughput: Throughput{ReceivedPerS: received[i]}})
		}
		text := "efficiency"
		for _, row := range ScalingOf(steps, "consumers")[0].Rows {
			text += fmt.Sprintf(" %.3g", row.Efficiency)
		}
		return text
	},
	"keys": func(t *testing.T, in string) string {
		d := dimension{by: ByPartition, on: true, several: true, name: func(k int64) string { return fmt.Sprint(k) }, keys: map[int64]*shareCounter{}}
		for i := range int64(numbers(t, in)[0]) {
			d.counter(i)
		}
		return fmt.Sprintf("%d of their own, %s gathers %d", len(d.keys), OtherKeys, len(d.folded))
	},
	"modes": func(t *testing.T, in string) string {
		x := numbers(t, in)
		r := rand.New(rand.NewPCG(1, 2))
		var values []int64
		for i := range 10_000 {
			level := x[0]
			if float64(i%100) >= x[1] {
				level = x[2]
			}
			values = append(values, int64(level*1e6*(1+0.1*r.NormFloat64())))
		}
		_, two := twoModesOf(compactOf(values))
		return yes(two, "two modes", "one")
	},
	"stalls": func(t *testing.T, in string) string {
		every := 0
		if strings.Contains(in, "each 40th") {
			every = 40
		}
		s := synthStep(t, 0, 500, 40*sec, 200*ms, schedule(20_000, 500, func(i int, at time.Duration) time.Duration {
			if every == 0 && at > 20*sec && at < 20*sec+600*ms || every > 0 && i%every == 0 {
				return sec - time.Duration(i%200)*ms
			}
			return 20*ms + time.Duration(i%7)*ms
		}))
		f := findingOf(Summarize(with(s, nil), View{}).Steps[0].Findings, "tail-from-stalls")
		if f == nil {
			return "none"
		}
		return plural(int64(f.Numbers["moments"]), "moment")
	},
}
