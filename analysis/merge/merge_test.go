package merge

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/clock"
	"queuebench/rawlog"
)

const sec = time.Second

func boot(host string, monotonic int64) clock.Identity {
	return clock.Identity{Host: host, BootID: "boot-" + host, AnchorNs: start + monotonic, MonotonicNs: 1 + monotonic, TimeNS: "t"}
}

// lognormal is a latency of its own for each message of a run.
func lognormal(seed uint64, median time.Duration) func(int) time.Duration {
	rng := rand.New(rand.NewPCG(seed, 1))
	var all []time.Duration
	for range 20_000 {
		all = append(all, time.Duration(float64(median)*math.Exp(0.7*rng.NormFloat64())))
	}
	return func(i int) time.Duration { return all[i%len(all)] }
}

// merged merges and goes once through the form that a command writes.
func merged(t *testing.T, sources []rawlog.Source, opt Options) *analysis.Digest {
	t.Helper()
	d, err := Runs(t.Context(), sources, opt)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := analysis.PackDigest(&b, d); err != nil {
		t.Fatal(err)
	}
	if d, err = analysis.ReadDigest(&b); err != nil {
		t.Fatal(err)
	}
	return d
}

// hold compares a digest with what the messages themselves say, from a time on
// the true axis to another.
func hold(t *testing.T, d *analysis.Digest, step int, from, to, skew int64, runs ...made) {
	t.Helper()
	s := &d.Steps[step]
	if s.StartNs != from+skew || s.StartNs+int64(s.Duration) != to+skew {
		t.Fatalf("step %d is from %d for %v, want %d to %d", step, s.StartNs-skew-start, s.Duration, from-start, to-start)
	}
	// All latencies in the overlap, one by one, after a warm-up of none.
	var latencies []int64
	var inside, all, lost, lostInside, twice, received int64
	perSecond := make([]int64, int((s.Duration+sec-1)/sec))
	scheduled := make([]int64, len(s.Intervals))
	for _, r := range runs {
		for _, m := range r.messages() {
			if m.step != s.Step {
				continue
			}
			all++
			in := m.intended >= from && m.intended < to
			if in {
				inside++
				at := time.Duration(m.intended - from)
				scheduled[slices.IndexFunc(s.Intervals, func(iv analysis.Interval) bool { return iv.Start <= at && at < iv.End })]++
			}
			if m.received == 0 {
				lost++
				if in {
					lostInside++
				}
				continue
			}
			received++
			if m.twice {
				twice++
			}
			if k := (m.received - from) / 1e9; m.received >= from && k < int64(len(perSecond)) {
				perSecond[k]++
			}
			if in {
				latencies = append(latencies, m.received-m.intended)
			}
		}
	}
	slices.Sort(latencies)
	x := analysis.Summarize(d, analysis.View{Warmup: new(time.Duration), Percentiles: []float64{1, 50, 90, 99, 99.9}}).Steps[step]
	l := x.Latencies["end_to_end"]
	if l.N != inside || l.Infinite != lostInside || l.MinNs != latencies[0] || l.MaxNs != latencies[len(latencies)-1] {
		t.Errorf("step %d: n %d, infinite %d, from %d to %d; want %d, %d, from %d to %d", step, l.N, l.Infinite, l.MinNs, l.MaxNs, inside, lostInside, latencies[0], latencies[len(latencies)-1])
	}
	for text, q := range map[string]float64{"1": .01, "50": .5, "90": .9, "99": .99, "99.9": .999} {
		rank := int(math.Ceil(q*float64(l.N))) - 1
		if rank >= len(latencies) {
			if !l.Percentiles[text].Beyond {
				t.Errorf("p%s should be beyond", text)
			}
			continue
		}
		if want, got := float64(latencies[rank]), float64(l.Percentiles[text].Ns); math.Abs(got-want) > 0.005*want {
			t.Errorf("step %d: p%s is %v, want %v", step, text, got, want)
		}
	}
	a := s.Accounting
	if a.Scheduled != all || a.Acked != all || a.Received != received || a.Lost != lost || a.Duplicates != twice || a.RecordsUsed != inside || a.RecordsTrimmed != all-inside {
		t.Errorf("step %d: %+v; want %d scheduled, %d received, %d lost, %d twice, %d used", step, a, all, received, lost, twice, inside)
	}
	if !slices.Equal(s.ReceivedPerSecond, perSecond) {
		t.Errorf("step %d: received %v, want %v", step, s.ReceivedPerSecond, perSecond)
	}
	for i := range s.Intervals {
		if s.Intervals[i].Scheduled != scheduled[i] {
			t.Errorf("step %d: interval %d has %d messages, want %d", step, i, s.Intervals[i].Scheduled, scheduled[i])
		}
	}
	for _, f := range x.Findings {
		if slices.Contains([]string{"accounting-breach", "half-missing", "step-incomplete"}, f.ID) {
			t.Errorf("step %d: %s: %s", step, f.ID, f.Text)
		}
	}
}

// Three runs of one boot at rates of their own, that begin and end apart, are
// what their messages say, step by step.
func TestMergedIsWhatTheMessagesSay(t *testing.T) {
	a := made{name: "a", rate: 700, long: 6 * sec, steps: 2, pause: sec, latency: lognormal(1, 20*time.Millisecond), clock: boot("one", 0), lose: func(i int) bool { return i%501 == 7 }}
	b := made{name: "b", begins: 1234567891, rate: 300, long: 6 * sec, steps: 2, pause: sec, latency: lognormal(2, 300*time.Millisecond), clock: boot("one", 5), twice: func(i int) bool { return i%97 == 0 }}
	c := made{name: "c", begins: -777777777, rate: 1000, long: 6 * sec, steps: 2, pause: sec, latency: lognormal(3, 5*time.Millisecond), clock: boot("one", 9)}
	d := merged(t, sourcesOf(t, a, b, c), Options{})
	for step := range 2 {
		from := start + int64(step)*7e9
		hold(t, d, step, from+int64(b.begins), from+6e9+int64(c.begins), 0, a, b, c)
		if s := &d.Steps[step]; s.Rate != 2000 || !s.Complete {
			t.Errorf("step %d: rate %v, complete %v", step, s.Rate, s.Complete)
		}
	}
	s := analysis.Summarize(d, analysis.View{}).Steps[0]
	if s.Breakdown == nil || len(s.Breakdown.Shares) < 3 || s.Breakdown.Shares[1].By != analysis.ByRun || s.Breakdown.Shares[1].Key != "b" {
		t.Errorf("broken down by run: %+v", s.Breakdown)
	}
	// The medians of batches are those of all batches in the overlap: values are
	// equal steps of time, so the median is that of the middle batches.
	if c := &d.Steps[0].Commits; c.Commits < 3*37 || c.Commits > 3*41 || c.MedianBytes < 3000 || c.MedianBytes > 5000 {
		t.Errorf("commits: %+v", c)
	}
	m := &d.Manifest
	if m.Run != "merged-a-b-c" || len(m.Processes) != 3 || m.Settings["brokers"] == "" || m.Settings["rate"] != "" || !m.Complete || m.Steps[0].Producers != 3 {
		t.Errorf("%+v", m)
	}
	notes := strings.Join(m.Warnings, "\n")
	for _, want := range []string{"merged, step 0: the 3.988s from", "--rate differs: \"700\" in a; \"300\" in b; \"1000\" in c", "are trimmed"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
}

// measured says by exchange how far the peer's clock is ahead.
func measured(own, peer clock.Identity, ahead, errorNs int64) func(*rawlog.Manifest) {
	return func(m *rawlog.Manifest) {
		o := rawlog.ClockOffset{Own: own, Peer: peer}
		for _, at := range []int64{0, 20e9} {
			o.Points = append(o.Points, rawlog.OffsetPoint{AtNs: start + at, OffsetNs: ahead, ErrorNs: errorNs})
		}
		m.ClockOffsets = append(m.ClockOffsets, o)
	}
}

// Two hosts measured their clocks against a third: the overlap is found on one
// axis, and shorter by the error at both ends; latencies are each run's own.
func TestClocksOfTwoHosts(t *testing.T) {
	const hour = time.Hour
	third := boot("third", 0)
	one, two := boot("one", 0), boot("two", 0)
	a := made{name: "a", rate: 500, long: 5 * sec, latency: lognormal(1, 20*time.Millisecond), clock: one, change: measured(one, third, 1000, 2e6)}
	b := made{name: "b", begins: 2 * sec, rate: 250, long: 5 * sec, latency: lognormal(2, 40*time.Millisecond), clock: two, skew: hour}
	b.change = func(m *rawlog.Manifest) {
		o := rawlog.ClockOffset{Own: two, Peer: third}
		for _, at := range []int64{0, 20e9} {
			o.Points = append(o.Points, rawlog.OffsetPoint{AtNs: start + int64(hour) + at, OffsetNs: -int64(hour) + 1000, ErrorNs: 3e6})
		}
		m.ClockOffsets = append(m.ClockOffsets, o)
	}
	d := merged(t, sourcesOf(t, a, b), Options{})
	hold(t, d, 0, start+2e9+5e6, start+5e9, 0, a, b)
	if !strings.Contains(strings.Join(d.Manifest.Warnings, "\n"), "-3600000.000 ± 5.000 ms added to its clock") {
		t.Errorf("%q", d.Manifest.Warnings)
	}
	// Without a measurement nothing is guessed, and trust is told.
	a.change, b.change, b.skew = nil, nil, 0
	_, err := Runs(t.Context(), sourcesOf(t, a, b), Options{})
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "--clock-peer") || !strings.Contains(err.Error(), "clock of two (run b)") {
		t.Errorf("%v", err)
	}
	d = merged(t, sourcesOf(t, a, b), Options{ClockError: 50 * time.Millisecond})
	hold(t, d, 0, start+2e9+5e7, start+5e9, 0, a, b)
	if !strings.Contains(strings.Join(d.Manifest.Warnings, "\n"), "trusted to agree within 50ms") {
		t.Errorf("%q", d.Manifest.Warnings)
	}
}

// A run that was killed has no entry of its step: its rows tell when it was under
// load.
func TestAKilledRun(t *testing.T) {
	a := made{name: "a", rate: 500, long: 6 * sec, latency: lognormal(1, 20*time.Millisecond), clock: boot("one", 0)}
	b := made{name: "b", begins: sec, rate: 250, long: 3 * sec, latency: lognormal(2, 40*time.Millisecond), clock: boot("one", 3), killed: true}
	d := merged(t, sourcesOf(t, a, b), Options{})
	s := &d.Steps[0]
	if s.Complete || d.Manifest.Complete || !strings.Contains(d.Manifest.Reason, "b: it was killed") || s.StartNs != start+1e9 || s.Duration < 2900*time.Millisecond || s.Duration > 3*sec {
		t.Errorf("complete %v, %q, start %d, %v", s.Complete, d.Manifest.Reason, s.StartNs-start, s.Duration)
	}
	if n := s.Accounting; n.RecordsUsed < 2150 || n.RecordsUsed > 2250 {
		t.Errorf("%+v", n)
	}
}
