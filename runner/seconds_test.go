package runner

import (
	"math"
	"slices"
	"testing"
	"time"

	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/stats"
)

// fromLog makes the exact columns of a step's seconds from the rows of its log.
func fromLog(t *testing.T, r *rig, start int64, n int) (seconds []Second, latencies [][]int64) {
	t.Helper()
	type id struct{ producer, seq int64 }
	seconds, latencies = make([]Second, n), make([][]int64, n)
	intended := map[id]int64{}
	r.rows(t, "sent", []string{"producer", "seq", "intended_ns"}, func(_ rawlog.Part, rows int, v []rawlog.Values) {
		for i := range rows {
			at := v[2].Ints[i]
			intended[id{v[0].Ints[i], v[1].Ints[i]}] = at
			seconds[(at-start)/1e9].Scheduled++
		}
	})
	type first struct {
		group string
		id    id
	}
	had := map[first]bool{}
	r.rows(t, "received", []string{"group", "producer", "seq", "received_ns"}, func(_ rawlog.Part, rows int, v []rawlog.Values) {
		for i := range rows {
			m, at := id{v[1].Ints[i], v[2].Ints[i]}, v[3].Ints[i]
			k := (at - start) / 1e9
			seconds[k].Received++
			if f := (first{v[0].String(i), m}); !had[f] {
				had[f] = true
				latencies[k] = append(latencies[k], at-intended[m])
			}
		}
	})
	return seconds, latencies
}

// The seconds of a step against its log, through a queue that stands still in
// the middle, repeats messages, and has two groups.
func TestSecondsAreThoseOfTheLog(t *testing.T) {
	const rate = 2000
	r := newRig(t, memory.Config{Partitions: 2, Faults: memory.Faults{
		DuplicateEvery: 7, Freezes: []memory.Freeze{{After: 500 * time.Millisecond, For: 900 * time.Millisecond}},
	}}, rate*1000, 2500*time.Millisecond)
	l := &r.plan().Load
	l.Groups, l.Consumers, l.Producers = 2, 2, 2
	res, err := Run(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := res.Steps[0]
	var sum Second
	for _, x := range s.Seconds {
		sum.Scheduled += x.Scheduled
		sum.Attempted += x.Attempted
		sum.Acked += x.Acked
		sum.Failed += x.Failed
		sum.N += x.N
	}
	a := s.Accounting
	if sum.Scheduled != a.Scheduled || sum.Attempted != a.Attempted || sum.Acked != a.Acked || sum.Failed != a.Failed || sum.N != 2*a.Received {
		t.Errorf("the seconds sum up to %+v, the accounting is %+v", sum, a)
	}
	want, latencies := fromLog(t, r, s.StartedNs, len(s.Seconds))
	for i, x := range s.Seconds {
		y := want[i]
		if x.Scheduled != y.Scheduled || x.Received != y.Received || x.N != int64(len(latencies[i])) {
			t.Errorf("second %d: scheduled %d, received %d, %d latencies; the log has %d, %d, %d", i, x.Scheduled, x.Received, x.N, y.Scheduled, y.Received, len(latencies[i]))
			continue
		}
		if last := i == len(s.Seconds)-1; (x.Length == time.Second) == last {
			t.Errorf("second %d of %d is %v long", i, len(s.Seconds), x.Length)
		}
		if len(latencies[i]) == 0 {
			continue
		}
		slices.Sort(latencies[i])
		for _, q := range []struct {
			name string
			q    float64
			got  time.Duration
		}{{"p50", 0.5, x.P50}, {"p99", 0.99, x.P99}, {"max", 1, x.Max}} {
			exact := latencies[i][stats.Rank(q.q, x.N)-1]
			if got := int64(q.got); got < exact || float64(got) > float64(exact)*1.001 {
				t.Errorf("second %d: %s is %d ns, the log says %d", i, q.name, got, exact)
			}
		}
	}
	if s.Seconds[0].Scheduled != rate {
		t.Errorf("a second has %d of %d messages", s.Seconds[0].Scheduled, rate)
	}
}

// book replays readings of a step: at ns since its start, acked so far.
func book(readings ...[2]int64) *secondsBook {
	b := &secondsBook{}
	var before levels
	for _, r := range readings {
		for b.next() <= r[0] {
			b.scheduled(b.next() / 1e6) // 1,000/s
		}
		now := levels{at: r[0], acked: r[1], inFlight: r[1]}
		b.add(before, now, 0, r[1])
		before = now
	}
	b.close(before.at, before.at/1e6)
	return b
}

func TestSecondsOfReadingsThatComeLate(t *testing.T) {
	b := book([2]int64{5e8, 500}, [2]int64{1.002e9, 1002}, [2]int64{1.5e9, 1500}, [2]int64{4.2e9, 4200}, [2]int64{4.3e9, 4300})
	want := []Second{
		{Length: time.Second, Scheduled: 1000, Acked: 1002, Backlog: 1002, InFlight: 1002},
		{Length: time.Second, Scheduled: 1000, Acked: 498, Backlog: 4200, InFlight: 4200},
		{Length: time.Second, Scheduled: 1000, Acked: 2700, Backlog: 4200, InFlight: 4200}, // the middle of 1.5 to 4.2 s
		{Length: time.Second, Scheduled: 1000, Backlog: 4200, InFlight: 4200},
		{Length: 300 * time.Millisecond, Scheduled: 300, Acked: 100, Backlog: 4300, InFlight: 4300},
	}
	if !slices.Equal(b.all, want) {
		t.Errorf("seconds are\n%+v\nwant\n%+v", b.all, want)
	}
}

func TestSecondsKeepNoHistogramOfWhatIsOver(t *testing.T) {
	b := &secondsBook{}
	for i := range int64(100) {
		x := tally{second: i, deliveries: 1}
		_ = x.latencies.Record(1000 + i)
		b.take(&x)
		b.settle(i) // one second more is open
		if len(b.open)+len(b.spare) > 2 || len(b.last) > windowSeconds {
			t.Fatalf("second %d: %d open, %d spare, %d last", i, len(b.open), len(b.spare), len(b.last))
		}
	}
	b.close(100e9, 0)
	if n := b.live.N(); n != 100 {
		t.Errorf("%d of 100 latencies", n)
	}
	for i, s := range b.all {
		if s.N != 1 || int64(s.Max) != 1000+int64(i) || s.P50 != s.Max || s.Mean != s.Max {
			t.Errorf("second %d is %+v", i, s)
		}
	}
}

// A receiver and the monitor at the same time: nothing is lost, and nothing
// comes for a second that is over.
func TestTalliesLoseNothing(t *testing.T) {
	const seconds, each = 500, 3
	var q tallies
	done := make(chan struct{})
	go func() {
		defer close(done)
		live := new(tally)
		for s := range int64(seconds) {
			if s > live.second {
				live = q.give(live, s)
			}
			for range each {
				_ = live.latencies.Record(s)
				live.deliveries++
				if q.wanted.Load() {
					live = q.give(live, live.second)
				}
			}
		}
		q.give(live, math.MaxInt64)
	}()
	got := make([]int64, seconds)
	for last, before := false, int64(0); !last; {
		select {
		case <-done:
			last = true
		default:
		}
		full, next := q.take()
		for _, x := range full {
			if x.second < before {
				t.Fatalf("second %d comes after %d was said to be over", x.second, before-1)
			}
			got[x.second] += x.deliveries
			if c := x.latencies.Take(); c.N != x.deliveries || c.Min != x.second || c.Max != x.second {
				t.Fatalf("second %d: %d deliveries with latencies %+v", x.second, x.deliveries, c)
			}
			x.deliveries = 0
			q.giveBack(x)
		}
		before = next
	}
	for s, n := range got {
		if n != each {
			t.Errorf("second %d has %d of %d", s, n, each)
		}
	}
}
