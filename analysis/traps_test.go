package analysis

import (
	"math"
	"strings"
	"testing"
	"time"

	"queuebench/stats"
)

// The traps of the rules of measurement, by their numbers. 9 (misuse of the
// command line) and 11 (prefixes) belong to other rooms; 9 has its part here.

func latencyOf(s StepSummary, k Kind) LatencySummary { return s.Latencies[k.String()] }

// near checks a percentile to the stated error of 0.5 %.
func near(t *testing.T, what string, got int64, want time.Duration) {
	t.Helper()
	if e := math.Abs(float64(got)-float64(want)) / math.Abs(float64(want)); e > 0.005 {
		t.Errorf("%s is %s, want %s", what, FormatLatency(got), FormatLatency(int64(want)))
	}
}

func summarizeOne(t *testing.T, s StepDigest, v View) StepSummary {
	t.Helper()
	return Summarize(synthDigest(s), v).Steps[0]
}

func TestTrap01ConsumerClockBehind(t *testing.T) {
	for _, c := range []struct{ skew, latency time.Duration }{{5 * sec, 20 * ms}, {2 * ms, ms}} {
		s := summarizeOne(t, synthStep(t, 0, 1000, 10*sec, 50*ms, schedule(10_000, 1000, func(int, time.Duration) time.Duration {
			return c.latency - c.skew
		})), all())
		l := latencyOf(s, EndToEnd)
		near(t, "p50", l.Percentiles["50"].Ns, c.latency-c.skew)
		if l.N != 10_000 || s.Accounting.Negative != 10_000 || l.MinNs != int64(c.latency-c.skew) || l.MeanNs != l.MinNs {
			t.Errorf("skew %s: n %d, negative %d, min %d, mean %d", c.skew, l.N, s.Accounting.Negative, l.MinNs, l.MeanNs)
		}
		if f := findingOf(s.Findings, "clock-skew"); f == nil || !strings.Contains(f.Text, FormatLatency(l.MinNs)) {
			t.Errorf("skew %s: %+v", c.skew, f)
		}
		if text := l.Percentiles["50"].Text(); !strings.HasPrefix(text, "−") {
			t.Errorf("p50 is shown as %s", text)
		}
	}
}

func TestTrap02FreezeIsTheQueues(t *testing.T) {
	const from, to = 12 * sec, 15 * sec
	m := schedule(30_000, 1000, func(int, time.Duration) time.Duration { return 5 * ms })
	for i := range m {
		if at := m[i].intended; at >= from && at < to {
			// The client holds the sender until the queue goes on.
			m[i].sent, m[i].blocked = to, to-at
			m[i].acked, m[i].received = to+2*ms, to+5*ms
		}
	}
	s := summarizeOne(t, synthStep(t, 0, 1000, 30*sec, 100*ms, m), all())
	l := latencyOf(s, EndToEnd)
	near(t, "p99", l.Percentiles["99"].Ns, 2705*ms)
	near(t, "p99.9", l.Percentiles["99.9"].Ns, 2975*ms)
	near(t, "p50", l.Percentiles["50"].Ns, 5*ms)
	near(t, "p99 of the send lag", latencyOf(s, SendLag).Percentiles["99"].Ns, 2700*ms)
	if findingOf(s.Findings, "runner-limited") != nil {
		t.Error("a freeze of the queue is called runner-limited")
	}
	f := findingOf(s.Findings, "tail-from-stalls")
	if f == nil || !strings.Contains(f.Text, "at 12 s") {
		t.Errorf("the stall is not named: %+v", s.Findings)
	}
}

func TestTrap03StoppedRunnerIsTheRunners(t *testing.T) {
	m := schedule(10_000, 1000, func(int, time.Duration) time.Duration { return 5 * ms })
	for i := range m {
		for _, from := range []time.Duration{3 * sec, 7 * sec} {
			if at := m[i].intended; at >= from && at < from+100*ms {
				m[i].sent = from + 100*ms
				m[i].own = m[i].sent - at
				m[i].acked, m[i].received = m[i].sent+2*ms, m[i].sent+5*ms
			}
		}
	}
	s := summarizeOne(t, synthStep(t, 0, 1000, 10*sec, 50*ms, m), all())
	if lag := latencyOf(s, SendLag); lag.MaxNs != int64(100*ms) {
		t.Errorf("the largest send lag is %s", FormatLatency(lag.MaxNs))
	}
	if latencyOf(s, EndToEnd).MaxNs != int64(105*ms) || latencyOf(s, EndToEndFromSend).MaxNs != int64(5*ms) {
		t.Error("end-to-end and from send do not stand apart")
	}
	if f := findingOf(s.Findings, "runner-limited"); f == nil || f.Severity != Warning {
		t.Errorf("a stopped runner is not called runner-limited: %+v", s.Findings)
	}
}

func TestTrap04QueueRefusesEverything(t *testing.T) {
	m := schedule(5000, 1000, func(int, time.Duration) time.Duration { return 0 })
	for i := range m {
		m[i].acked, m[i].received = never, never
	}
	s := summarizeOne(t, synthStep(t, 0, 1000, 5*sec, 50*ms, m), all())
	a := s.Accounting
	if a.Acked != 0 || a.Failed != 5000 || a.Attempted != 5000 {
		t.Errorf("%+v", a)
	}
	for _, k := range []Kind{EndToEnd, EndToEndFromSend, Publish} {
		if l := latencyOf(s, k); len(l.Percentiles) != 0 {
			t.Errorf("%s has percentiles: %+v", k, l)
		}
	}
	if f := findingOf(s.Findings, "nothing-acknowledged"); f == nil || f.Severity != Failure {
		t.Errorf("findings: %+v", s.Findings)
	}
	_, rows := Table(Summarize(synthDigest(synthStep(t, 0, 1000, 5*sec, 50*ms, m)), all()))
	if text := strings.Join(rows[0], " "); !strings.Contains(text, "– – – – – – – –") {
		t.Errorf("the table shows %s", text)
	}
}

func TestTrap05LastMinuteIsSlow(t *testing.T) {
	d := synthStep(t, 0, 50, 600*sec, 2*sec, schedule(30_000, 50, func(_ int, at time.Duration) time.Duration {
		if at >= 540*sec {
			return 2 * sec
		}
		return 100 * ms
	}))
	s := summarizeOne(t, d, all())
	near(t, "p50 of all", latencyOf(s, EndToEnd).Percentiles["50"].Ns, 100*ms)
	near(t, "p95 of all", latencyOf(s, EndToEnd).Percentiles["95"].Ns, 2*sec)
	series := SeriesOf(&d, View{Percentiles: []float64{50}})
	for _, p := range series.Points {
		want := 100 * ms
		if p.Start >= 540*sec {
			want = 2 * sec
		}
		near(t, "the interval from "+p.Start.String(), p.Ns[0], want)
	}
}

func TestTrap06PercentilesAreNotMerged(t *testing.T) {
	fast := schedule(99_000, 9900, func(int, time.Duration) time.Duration { return 10 * ms })
	slow := schedule(1000, 100, func(int, time.Duration) time.Duration { return sec })
	s := summarizeOne(t, synthStep(t, 0, 10_000, 10*sec, 50*ms, append(fast, slow...)), all())
	near(t, "the merged p99", latencyOf(s, EndToEnd).Percentiles["99"].Ns, 10*ms)
	near(t, "the merged p99.9", latencyOf(s, EndToEnd).Percentiles["99.9"].Ns, sec)
}

func TestTrap07VeryLongLatencies(t *testing.T) {
	for _, long := range []time.Duration{61 * sec, 13 * time.Hour, 29 * 24 * time.Hour} {
		exact := long + 123_457
		m := schedule(100, 100, func(i int, _ time.Duration) time.Duration {
			if i == 50 {
				return exact
			}
			return ms
		})
		// The second of the reception lies far beyond the step.
		d := synthStep(t, 0, 100, sec, 10*ms, m[:50])
		d2 := synthStep(t, 0, 100, sec, 10*ms, nil)
		d2.Intervals = d.Intervals
		h := compactOf([]int64{int64(exact)})
		d2.Intervals[50].Latency[EndToEnd], d2.Intervals[50].Scheduled = h, 1
		s := summarizeOne(t, d2, view(0, 50, 99.9))
		l := latencyOf(s, EndToEnd)
		if l.MaxNs != int64(exact) || l.N != 51 {
			t.Errorf("%s: maximum %d, n %d", long, l.MaxNs, l.N)
		}
		near(t, long.String(), l.Percentiles["99.9"].Ns, exact)
		if q, _ := h.Quantile(0.5, 0); q != int64(exact) {
			t.Errorf("%s: alone it is %d", long, q)
		}
	}
}

func TestTrap08Blanks(t *testing.T) {
	d := synthStep(t, 0, 10, 10*sec, 50*ms, schedule(1, 10, func(int, time.Duration) time.Duration { return 7 * ms }))
	for i, p := range SeriesOf(&d, View{}).Points {
		if i > 0 && p.N != 0 {
			t.Errorf("interval %d has %d messages", i, p.N)
		}
	}
	// One record: p99 is its value in JSON, not supported, and a dash in text.
	s := summarizeOne(t, d, all())
	p := latencyOf(s, EndToEnd).Percentiles["99"]
	if p.Ns != int64(7*ms) || p.Supported || p.Text() != Dash {
		t.Errorf("p99 of one record: %+v, %s", p, p.Text())
	}
	// An empty log.
	empty := synthDigest()
	if err := (View{}).Check(empty); err == nil || !strings.Contains(err.Error(), "no data") {
		t.Errorf("an empty log: %v", err)
	}
	if f := findingOf(Summarize(empty, View{}).Findings, "empty-run"); f == nil || f.Severity != Failure {
		t.Error("an empty run is not found")
	}
}

func TestTrap09WarmupLongerThanTheRun(t *testing.T) {
	d := synthDigest(synthStep(t, 0, 1000, 2*sec, 10*ms, schedule(2000, 1000, steady(ms))))
	err := view(5 * sec).Check(d)
	if err == nil || !strings.Contains(err.Error(), "2 s long") || !strings.Contains(err.Error(), "--warmup") {
		t.Errorf("%v", err)
	}
	s := Summarize(d, view(5*sec)).Steps[0]
	if f := findingOf(s.Findings, "warmup-longer-than-step"); f == nil || latencyOf(s, EndToEnd).N != 0 || s.Accounting.RecordsTrimmed != 2000 {
		t.Errorf("%+v", s)
	}
}

func TestTrap10BurstIsADrain(t *testing.T) {
	const n, span = 14_485, 67 * ms
	m := make([]msg, n)
	for i := range m {
		at := span * time.Duration(i) / n
		latency := 12*ms + (1061-12)*ms*time.Duration(i)/(n-1)
		m[i] = msg{intended: at, sent: at, acked: at + 10*ms, received: at + latency}
	}
	s := summarizeOne(t, synthStep(t, 0, n/span.Seconds(), span, 10*ms, m), all())
	f := findingOf(s.Findings, "draining-a-burst")
	if f == nil {
		t.Fatalf("findings: %+v", s.Findings)
	}
	for _, w := range []string{"14,485 messages", "67.0 ms", "216,194 msg/s", "12,979 msg/s", "12.0 ms", "1.06 s"} {
		if !strings.Contains(f.Text, w) {
			t.Errorf("%q is not in %s", w, f.Text)
		}
	}
	if !strings.Contains(f.Advice, "--rates 10000") {
		t.Errorf("advice: %s", f.Advice)
	}
	if findingOf(s.Findings, "not-keeping-up") != nil {
		t.Error("a drain is called growth too")
	}
}

// Lost messages rank as infinite: a percentile that reaches them has no value.
func TestLostMessagesAreBeyond(t *testing.T) {
	m := schedule(10_000, 1000, func(int, time.Duration) time.Duration { return 10 * ms })
	for i := range m {
		if i%50 == 49 {
			m[i].received = never
		}
	}
	d := synthDigest(synthStep(t, 0, 1000, 10*sec, 50*ms, m))
	s := Summarize(d, all()).Steps[0]
	l := latencyOf(s, EndToEnd)
	if l.N != 10_000 || l.Infinite != 200 || s.Accounting.Lost != 200 {
		t.Errorf("n %d, infinite %d, lost %d", l.N, l.Infinite, s.Accounting.Lost)
	}
	if p := l.Percentiles["99"]; !p.Beyond || p.Ns != int64(30*sec) || p.Text() != "> 30.0 s" {
		t.Errorf("p99: %+v, %s", p, p.Text())
	}
	if p := l.Percentiles["95"]; p.Beyond || !p.Supported {
		t.Errorf("p95: %+v", p)
	}
	series := SeriesOf(&d.Steps[0], View{Percentiles: []float64{50, 99}})
	if p := series.Points[3]; p.Ns[0] < 0 || p.Ns[1] != -1 {
		t.Errorf("the series has %v", p.Ns)
	}
}

// The support rule counts blocks too.
func TestSupportNeedsBlocks(t *testing.T) {
	d := synthDigest(synthStep(t, 0, 1000, 20*sec, 100*ms, schedule(20_000, 1000, steady(20*ms))))
	d.Steps[0].Commits.Commits = 19
	if p := latencyOf(Summarize(d, all()).Steps[0], EndToEnd).Percentiles["99"]; p.Supported {
		t.Error("19 commits support a p99")
	}
	d.Steps[0].Commits.Commits = stats.MinBlocks
	if p := latencyOf(Summarize(d, all()).Steps[0], EndToEnd).Percentiles["99"]; !p.Supported {
		t.Error("20 commits do not support a p99")
	}
}

// The same burst with all messages due at the same instant, as a schedule makes
// it: their order is not in the intervals, and the even spread of their waits
// tells it. Waits of two kinds are no drain.
func TestTrap10BurstOfOneInstantIsADrain(t *testing.T) {
	const n = 14_485
	for _, c := range []struct {
		name    string
		latency func(i int) time.Duration
		drain   bool
	}{
		{"a drain", func(i int) time.Duration { return 12*ms + 1049*ms*time.Duration(i)/(n-1) }, true},
		{"two kinds", func(i int) time.Duration { return 12*ms + 1049*ms*time.Duration(i%2) }, false},
		{"one straggler", func(i int) time.Duration { return 12*ms + 1049*ms*time.Duration(i/(n-1)) }, false},
	} {
		m := make([]msg, n)
		for i := range m {
			m[i] = msg{acked: 10 * ms, received: c.latency(i)}
		}
		s := summarizeOne(t, synthStep(t, 0, n, sec, 10*ms, m), View{})
		f := findingOf(s.Findings, "draining-a-burst")
		if (f != nil) != c.drain {
			t.Errorf("%s: findings %+v", c.name, s.Findings)
		}
		if f != nil && !strings.Contains(f.Text, "13,808 msg/s") {
			t.Errorf("%s: %s", c.name, f.Text)
		}
	}
}
