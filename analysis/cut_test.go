//go:build !js

package analysis

import (
	"math"
	"testing"
	"time"

	"queuebench/rawlog"
)

// A step that was cut off has a last part of each actor, and what was on its
// way is unknown all the same: neither lost nor unconfirmed nor overrun.
func TestStepThatWasCutOff(t *testing.T) {
	const latency, cut = 500 * ms, testStart + 1200_000_000
	r := oneStep(1210)
	r.received = r.received[:700]
	for i := range r.received {
		r.received[i].ReceivedNs = r.sent[i].IntendedNs + int64(latency)
	}
	for i := 1100; i < 1200; i++ {
		r.sent[i].Status, r.sent[i].AckedNs = rawlog.Unconfirmed, 0
	}
	for i := 1200; i < 1210; i++ {
		r.sent[i].Status, r.sent[i].SentNs, r.sent[i].AckedNs = rawlog.Overrun, 0, 0
	}
	src, m := logOf(t, 5000, 1000, 4*sec, r)
	e := &m.Steps[0]
	e.Complete, e.Failure, e.CutOffNs, m.Complete, m.Reason = false, "interrupted", cut, false, "interrupted"
	for i := range e.Parts {
		switch p := &e.Parts[i]; p.Table {
		case rawlog.Sent.Name:
			p.WatermarkNs = testStart + 1100_000_000
		case rawlog.Received.Name:
			p.WatermarkNs = cut
		}
	}
	src.put(t, m)
	d, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := Summarize(d, all()).Steps[0]
	want := Accounting{Scheduled: 1210, Attempted: 700, Acked: 700, Received: 700, Unknown: 510, RecordsUsed: 700}
	if x.Accounting != want {
		t.Errorf("\n got %+v\nwant %+v", x.Accounting, want)
	}
	if l := latencyOf(x, EndToEnd); l.N != 700 || l.Infinite != 0 || x.Complete {
		t.Errorf("%+v", l)
	}
	for _, id := range []string{"messages-lost", "overrun", "messages-unconfirmed", "accounting-breach"} {
		if f := findingOf(x.Findings, id); f != nil {
			t.Errorf("%s: %s", id, f.Text)
		}
	}
	if findingOf(x.Findings, "step-incomplete") == nil {
		t.Errorf("not called incomplete: %+v", x.Findings)
	}
	// 1.1 s of 4 s are known: 11 intervals of 100 ms at most.
	m.Queue.CommitInterval = 100 * ms
	src.put(t, m)
	if d, err = Read(t.Context(), src, Options{}); err != nil {
		t.Fatal(err)
	}
	if p := latencyOf(Summarize(d, all()).Steps[0], EndToEnd).Percentiles["50"]; p.Supported {
		t.Errorf("11 commit intervals support %+v", p)
	}
	// Deliveries from 0.5 s to 1.2 s: the piece of a second is left out.
	if x.Throughput.Seconds != 1 || x.Throughput.ReceivedPerS != 500 {
		t.Errorf("%+v", x.Throughput)
	}
}

// What the runner received and recognised as no message of the step has no row,
// and is counted with those that have one.
func TestForeignDeliveriesOfTheRunnerAreCounted(t *testing.T) {
	r := oneStep(2000)
	r.received = append(r.received, rawlog.ReceivedRow{Group: "g", Seq: 1 << 40, ReceivedNs: testStart + 3e9, Partition: 0, Offset: 1})
	src, m := logOf(t, 5000, 1000, 2*sec, r)
	m.Steps[0].Accounting.Foreign = 7
	src.put(t, m)
	d, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := Summarize(d, all()).Steps[0]
	if x.Accounting.Foreign != 8 || findingOf(x.Findings, "foreign-messages") == nil {
		t.Errorf("foreign %d, findings %+v", x.Accounting.Foreign, x.Findings)
	}
}

// A second without a delivery is 0 messages per second wherever it lies, and a
// piece of a second is none.
func TestThroughputCountsSecondsWithoutADelivery(t *testing.T) {
	for _, c := range []struct {
		name      string
		perSecond []int64
		duration  time.Duration
		warmup    time.Duration
		complete  bool
		want      []float64
	}{
		{"even", []int64{100, 100, 100, 7}, 3 * sec, 0, true, []float64{100, 100, 100}},
		{"silent in between", []int64{100, 0, 100}, 3 * sec, 0, true, []float64{100, 0, 100}},
		{"silent from then on", []int64{100}, 4 * sec, 0, true, []float64{100, 0, 0, 0}},
		{"silent after the warm-up", []int64{100}, 4 * sec, sec, true, []float64{0, 0, 0}},
		{"warm-up within a second", []int64{50, 100, 100}, 3 * sec, 300 * ms, true, []float64{100, 100}},
		{"end within a second", []int64{100, 100, 20}, 2500 * ms, 0, true, []float64{100, 100}},
		{"cut off", []int64{100, 100, 20}, 60 * sec, 0, false, []float64{100, 100}},
		{"incomplete at the very end", []int64{100, 100, 100, 5}, 3 * sec, 0, false, []float64{100, 100, 100}},
	} {
		s := &StepDigest{Duration: c.duration, Complete: c.complete, ReceivedPerSecond: c.perSecond}
		got := throughput(s, c.warmup, c.duration)
		var sum, squares float64
		for _, x := range c.want {
			sum += x
		}
		mean := sum / float64(len(c.want))
		for _, x := range c.want {
			squares += (x - mean) * (x - mean)
		}
		sd := math.Sqrt(squares / float64(len(c.want)-1))
		if got.Seconds != len(c.want) || got.ReceivedPerS != mean || math.Abs(got.SD-sd) > 1e-9 {
			t.Errorf("%s: %+v, want %v ± %v of %v", c.name, got, mean, sd, c.want)
		}
	}
	// Cut off within the warm-up: the mean of what is known.
	if got := throughput(&StepDigest{Duration: 60 * sec, ReceivedPerSecond: []int64{80, 100, 60}}, 6*sec, 60*sec); got.Seconds != 0 || got.ReceivedPerS != 80 {
		t.Errorf("%+v", got)
	}
	// Nothing of a whole second: the mean of the step.
	if got := throughput(&StepDigest{Duration: 500 * ms, Complete: true, ReceivedPerSecond: []int64{50}}, 0, 500*ms); got.Seconds != 0 || got.ReceivedPerS != 100 {
		t.Errorf("%+v", got)
	}
}

// The log of a run that was killed while one of two partitions stood still: the
// rows of the other one go on beyond the watermark, and their seqs beyond the
// number of rows. They are unknown, not rejected.
func TestRowsBeyondTheWatermarkAreUnknown(t *testing.T) {
	const stuck, n = 100, 40_000
	at := func(i int64) int64 { return testStart + i*1e6 }
	// It is not in run.json: its length is what the first rows tell.
	s := &StepDigest{StartNs: testStart, Duration: sec, Interval: 100 * ms}
	s.Intervals = newIntervals(s.Duration, s.Interval, nil)
	j := newJoiner(s, []string{"g"})
	j.until = at(n)
	j.maxSeq = n/2 + stuck/2 + cutSlack
	j.producer(0).watermark = at(stuck)
	for i := range int64(n) {
		if i < stuck || i%2 == 1 {
			j.row(0, i, at(i), at(i), at(i)+1e6, 0, rawlog.Acked)
			j.delivery(0, 0, i, at(i)+5e6, rawlog.Null)
		}
	}
	j.finish()
	a := s.Accounting
	if a.RecordsRejected != 0 || a.Foreign != 0 || a.Lost != 0 || a.Received != stuck || a.Acked != stuck || a.RecordsUsed != stuck {
		t.Errorf("%+v", a)
	}
	// Holes between rows are messages of which nothing is known; those of the
	// last blocks may lie beyond the schedule.
	if a.Scheduled != a.Attempted+a.Unknown || a.Unknown < (n-stuck)/2 || a.Unknown > n-stuck {
		t.Errorf("%+v", a)
	}
}
