//go:build !js

package analysis

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/rawlog"
)

// chaos makes a step in which everything happens: several producers, consumers
// and groups, losses, duplicates, disorder, refusals, overruns, skew, broker
// stamps, rows far out of order.
func chaos(r *rand.Rand, n int, duration time.Duration) rows {
	var out rows
	producers, consumers, groups := 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(2)
	skew := time.Duration(0)
	if r.IntN(3) == 0 {
		skew = time.Duration(r.Int64N(4e9)) - 2*time.Second
	}
	broker := r.IntN(2) == 0
	seqs := make([]int64, producers)
	for i := range n {
		p := i % producers
		at := testStart + int64(duration)*int64(i)/int64(n)
		lag := r.Int64N(1e6)
		row := rawlog.SentRow{Producer: int32(p), Seq: seqs[p], IntendedNs: at, SentNs: at + lag, BlockedNs: r.Int64N(lag + 1), Partition: -1, Offset: -1}
		seqs[p]++
		took := r.Int64N(1 << (10 + r.IntN(24)))
		switch k := r.IntN(100); {
		case k < 4:
			row.Status, row.SentNs = rawlog.Overrun, 0
		case k < 7:
			row.Status, row.AckedNs = rawlog.Failed, row.SentNs+took
		case k < 9:
			row.Status = rawlog.Unconfirmed
		default:
			row.Status, row.AckedNs = rawlog.Acked, row.SentNs+took
		}
		out.sent = append(out.sent, row)
		if row.Status == rawlog.Overrun || row.Status == rawlog.Failed && r.IntN(3) > 0 {
			continue
		}
		for g := range groups {
			if r.IntN(40) == 0 {
				continue // lost
			}
			for copies := 1 + r.IntN(30)/29; copies > 0; copies-- {
				d := rawlog.ReceivedRow{Consumer: int32(g*consumers + r.IntN(consumers)), Group: actor("group", int32(g)), Producer: row.Producer, Seq: row.Seq,
					ReceivedNs: row.SentNs + took + r.Int64N(1<<(10+r.IntN(23))) + int64(skew), Partition: int32(r.IntN(2)), Offset: -1}
				if broker {
					d.BrokerNs, d.BrokerKind = row.SentNs+took, "append"
				}
				out.received = append(out.received, d)
			}
		}
	}
	for range r.IntN(5) { // foreign
		out.received = append(out.received, rawlog.ReceivedRow{Group: "group-0", Seq: 1 << 40, ReceivedNs: testStart + r.Int64N(1e9), Partition: -1, Offset: -1})
	}
	// A row is written when its fate is known; a consumer's are in its order.
	slices.SortStableFunc(out.sent, func(a, b rawlog.SentRow) int {
		return cmp.Compare(cmp.Or(a.AckedNs, a.IntendedNs+30e9), cmp.Or(b.AckedNs, b.IntendedNs+30e9))
	})
	slices.SortStableFunc(out.received, func(a, b rawlog.ReceivedRow) int { return cmp.Compare(a.ReceivedNs, b.ReceivedNs) })
	return out
}

// Read agrees with the plain calculation over all rows, whatever happened.
func TestReadAgainstAPlainJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 12 {
		n, duration := []int{1, 50, 3000, 12_000}[i%4], time.Duration(1+i)*time.Second
		log := chaos(r, n, duration)
		src, m := logOf(t, 1+r.IntN(2*n), 1000, duration, log)
		d, err := Read(t.Context(), src, Options{Edges: []time.Duration{333 * ms, 77 * time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		got := &d.Steps[0]
		want := naiveJoin(log, testStart, newIntervals(duration, DefaultInterval(duration), []time.Duration{333 * ms, duration / 10}))
		if len(want.groups) == 0 { // nothing was received
			continue
		}
		if got.Accounting != want.accounting {
			t.Errorf("case %d, %d messages: accounting\n got %+v\nwant %+v", i, n, got.Accounting, want.accounting)
		}
		if !slices.Equal(got.ReceivedPerSecond, want.perSecond) {
			t.Errorf("case %d: per second %v, want %v", i, got.ReceivedPerSecond, want.perSecond)
		}
		if len(got.Intervals) != len(want.intervals) {
			t.Fatalf("case %d: %d intervals, want %d", i, len(got.Intervals), len(want.intervals))
		}
		for k := range got.Intervals {
			compareIntervals(t, i, &got.Intervals[k], &want.intervals[k])
		}
		if !got.Complete || got.Rate != 1000 || got.StartNs != testStart {
			t.Errorf("case %d: %+v", i, got)
		}
		if f := findingOf(Summarize(d, View{}).Steps[0].Findings, "accounting-breach"); f != nil {
			t.Errorf("case %d: %s", i, f.Text)
		}
		_ = m
	}
}

func compareIntervals(t *testing.T, i int, got, want *Interval) {
	t.Helper()
	g, w := *got, *want
	for k := range numSeries {
		a, b := g.series(k), w.series(k)
		// The sum is exact in another order of addition.
		if math.Abs(a.Sum-b.Sum) > 1e-9*math.Abs(b.Sum)+1 {
			t.Errorf("case %d, %s: sum %g, want %g", i, seriesName(k), a.Sum, b.Sum)
		}
		a.Sum, b.Sum = 0, 0
		*b = b.Coarse()
	}
	if !reflect.DeepEqual(g, w) {
		t.Fatalf("case %d, interval from %s:\n got %+v\nwant %+v", i, got.Start, g, w)
	}
}

func TestDefaultInterval(t *testing.T) {
	for step, want := range map[time.Duration]time.Duration{
		0: 10 * ms, 1: 10 * ms, 3 * sec: 10 * ms, 3*sec + 1: 20 * ms, 10 * sec: 50 * ms, 20 * sec: 100 * ms, 30 * sec: 100 * ms,
		300 * sec: sec, 600 * sec: 2 * sec, time.Hour: 20 * sec, 1<<63 - 1: 50_000_000 * sec,
	} {
		got := DefaultInterval(step)
		if got != want {
			t.Errorf("DefaultInterval(%s) = %s, want %s", step, got, want)
		}
		if step < time.Hour {
			if n := len(newIntervals(step, got, nil)); n > maxIntervals {
				t.Errorf("%s: %d intervals", step, n)
			}
		}
	}
}

func oneStep(n int) rows {
	var r rows
	for i := range int64(n) {
		at := testStart + i*1e6
		r.sent = append(r.sent, rawlog.SentRow{Seq: i, IntendedNs: at, SentNs: at + 1000, AckedNs: at + 5e6, Status: rawlog.Acked, Partition: 0, Offset: i})
		r.received = append(r.received, rawlog.ReceivedRow{Group: "g", Seq: i, ReceivedNs: at + 10e6, Partition: 0, Offset: i})
	}
	return r
}

func TestReadRefusals(t *testing.T) {
	src, m := logOf(t, 600, 1000, 2*sec, oneStep(2000))
	second := "sent/step=0/repeat=0/part-producer-0-1.parquet"
	if _, ok := src[second]; !ok {
		t.Fatalf("the fixture has no %s", second)
	}
	for name, c := range map[string]struct {
		spoil func(memorySource)
		is    error
		want  []string
	}{
		"no run.json":   {func(s memorySource) { delete(s, rawlog.ManifestName) }, rawlog.ErrNotARun, nil},
		"truncated":     {func(s memorySource) { s[second] = s[second][:len(s[second])/2] }, rawlog.ErrDamaged, []string{second, "copy it again"}},
		"empty part":    {func(s memorySource) { s[second] = nil }, rawlog.ErrNotAPart, []string{second}},
		"text":          {func(s memorySource) { s[second] = []byte("hello, this is no parquet file") }, rawlog.ErrNotAPart, []string{second}},
		"missing":       {func(s memorySource) { delete(s, second) }, nil, []string{second, "missing"}},
		"foreign extra": {func(s memorySource) { s["x/other.parquet"] = []byte("PAR1 something else PAR1") }, nil, []string{"x/other.parquet"}},
		"copied twice":  {func(s memorySource) { s["again.parquet"] = s[second] }, nil, []string{"again.parquet", second, "same part"}},
		"swapped": {func(s memorySource) {
			s[second] = s["received/step=0/repeat=0/part-consumer-0-1.parquet"]
		}, nil, []string{second, "copy the log again"}},
		"of another run": {func(s memorySource) {
			var m2 = *m
			m2.Run = "run-2"
			m2.Steps = nil
			s.put(t, &m2)
		}, nil, []string{`run "run-1"`, `"run-2"`}},
	} {
		s := memorySource{}
		for k, v := range src {
			s[k] = v
		}
		c.spoil(s)
		_, err := Read(t.Context(), s, Options{})
		if err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", name, err, w)
			}
		}
	}
	if _, err := Read(t.Context(), src, Options{Interval: time.Nanosecond}); err == nil {
		t.Error("a grid of 1 ns was taken")
	}
}

// Files that were dropped on a page have lost their folders.
func TestReadWithoutPaths(t *testing.T) {
	src, _ := logOf(t, 300, 1000, 2*sec, oneStep(2000))
	flat := memorySource{}
	for name, b := range src {
		flat[strings.ReplaceAll(name, "/", "_")] = b
	}
	want, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(t.Context(), flat, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("the digest differs without the paths")
	}
}

func TestReadProgressAndCancel(t *testing.T) {
	src, _ := logOf(t, 300, 1000, 2*sec, oneStep(2000))
	var last, total int64
	if _, err := Read(t.Context(), src, Options{Progress: func(done, all int64) {
		if done < last || done > all {
			t.Errorf("progress %d of %d after %d", done, all, last)
		}
		last, total = done, all
	}}); err != nil {
		t.Fatal(err)
	}
	if last != 4000 || total != 4000 {
		t.Errorf("progress ends at %d of %d, want 4000", last, total)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := Read(ctx, src, Options{Progress: func(int64, int64) { cancel() }})
	if err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("after a cancel: %v", err)
	}
}
