package runner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner/envelope"
	"queuebench/runner/schedule"
)

// accounting runs a rig of one step and compares its books.
func accounting(t *testing.T, r *rig, want rawlog.Accounting) *Result {
	t.Helper()
	res, err := Run(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Steps[0].Accounting; got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	m := r.manifest(t)
	if len(m.Steps) != 1 || m.Steps[0].Accounting != want || !m.Complete {
		t.Errorf("the manifest has %+v", m.Steps)
	}
	return res
}

func TestAllMessagesAreAccountedFor(t *testing.T) {
	r := newRig(t, memory.Config{}, 10_000_000, 500*time.Millisecond)
	res := accounting(t, r, rawlog.Accounting{Scheduled: 5000, Attempted: 5000, Acked: 5000, Received: 5000})
	if got := r.statuses(t); len(got) != 1 || got["acked"] != 5000 {
		t.Errorf("rows of sent: %v", got)
	}
	if n := res.Steps[0].EndToEnd.N; n != 5000 {
		t.Errorf("%d latencies", n)
	}
	if n := res.Steps[0].SendLag.N; n != 5000 || res.Steps[0].SendLag.Min < 0 {
		t.Errorf("%d send lags, the least %d ns: none may be early", n, res.Steps[0].SendLag.Min)
	}
	kinds := r.kinds(t)
	if kinds["start"] != 3 || kinds["end"] != 3 || kinds["drain"] != 1 {
		t.Errorf("events: %v; want start and end of the step, a producer and a consumer", kinds)
	}
}

// TestIntendedTimesAreTheSchedule reads the log and finds each message once,
// at start + seq/rate to the nanosecond.
func TestIntendedTimesAreTheSchedule(t *testing.T) {
	r := newRig(t, memory.Config{}, 3_000_000, 400*time.Millisecond)
	accounting(t, r, rawlog.Accounting{Scheduled: 1200, Attempted: 1200, Acked: 1200, Received: 1200})
	start := r.manifest(t).Steps[0].StartedNs
	share := schedule.NewShare(r.cfg.Plans[0].Schedule, 0, 1)
	seen := map[int64]bool{}
	r.rows(t, "sent", []string{"seq", "intended_ns", "sent_ns", "acked_ns"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
		for i := range n {
			seq, intended, sent, acked := v[0].Ints[i], v[1].Ints[i], v[2].Ints[i], v[3].Ints[i]
			if intended != start+share.At(seq) || sent < intended || acked < sent || seen[seq] {
				t.Errorf("message %d: intended %d, sent %d, acked %d", seq, intended-start, sent-start, acked-start)
			}
			seen[seq] = true
		}
	})
	if len(seen) != 1200 {
		t.Errorf("%d messages have a row", len(seen))
	}
}

func TestManyActors(t *testing.T) {
	r := newRig(t, memory.Config{Partitions: 4}, 10_000_000, 400*time.Millisecond)
	l := r.plan()
	l.Load.Producers, l.Load.Groups, l.Load.Consumers = 3, 2, 2
	res := accounting(t, r, rawlog.Accounting{Scheduled: 4000, Attempted: 4000, Acked: 4000, Received: 4000})
	if n := res.Steps[0].EndToEnd.N; n != 8000 {
		t.Errorf("%d latencies of two groups", n)
	}
	groups := map[string]int{}
	r.rows(t, "received", []string{"group"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
		for i := range n {
			groups[v[0].String(i)]++
		}
	})
	if groups["group-0"] != 4000 || groups["group-1"] != 4000 {
		t.Errorf("rows of received: %v", groups)
	}
}

func TestDroppedMessagesAreLost(t *testing.T) {
	r := newRig(t, memory.Config{Faults: memory.Faults{DropEvery: 100}}, 10_000_000, 300*time.Millisecond)
	begin := time.Now()
	res := accounting(t, r, rawlog.Accounting{Scheduled: 3000, Attempted: 3000, Acked: 3000, Received: 2970, Lost: 30})
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("a lost message kept the step for %v", took)
	}
	if len(res.Broken) != 1 || !strings.Contains(res.Broken[0], "30 acknowledged messages were lost") {
		t.Errorf("broken promises: %q", res.Broken)
	}
	if ns, beyond := res.Steps[0].EndToEnd.Quantile(0.999, res.Steps[0].Missing); !beyond {
		t.Errorf("p99.9 is %d with 1 %% lost", ns)
	}
}

func TestDuplicatesAreCountedAndEndNothingEarly(t *testing.T) {
	r := newRig(t, memory.Config{Faults: memory.Faults{DuplicateEvery: 2}}, 10_000_000, 300*time.Millisecond)
	res := accounting(t, r, rawlog.Accounting{Scheduled: 3000, Attempted: 3000, Acked: 3000, Received: 3000, Duplicates: 1500})
	if len(res.Broken) != 1 || !strings.Contains(res.Broken[0], "1500 messages were delivered again") {
		t.Errorf("broken promises: %q", res.Broken)
	}
}

func TestWithheldAcknowledgementsAreUnconfirmedAtTheDeadline(t *testing.T) {
	r := newRig(t, memory.Config{Faults: memory.Faults{WithholdAcks: true}}, 10_000_000, 300*time.Millisecond)
	r.plan().Load.DrainTimeout = 500 * time.Millisecond
	accounting(t, r, rawlog.Accounting{Scheduled: 3000, Attempted: 3000, Unconfirmed: 3000, Received: 3000})
	if got := r.statuses(t); got["unconfirmed"] != 3000 {
		t.Errorf("rows of sent: %v", got)
	}
}

func TestOverrunHasRowsAndMemoryStaysBounded(t *testing.T) {
	r := newRig(t, memory.Config{Faults: memory.Faults{WithholdAcks: true}}, 10_000_000, 300*time.Millisecond)
	r.plan().Load.DrainTimeout = 200 * time.Millisecond
	r.plan().Load.MaxInFlight = 100
	res := accounting(t, r, rawlog.Accounting{Scheduled: 3000, Attempted: 100, Unconfirmed: 100, Overrun: 2900, Received: 100})
	if got := r.statuses(t); got["overrun"] != 2900 || got["unconfirmed"] != 100 {
		t.Errorf("rows of sent: %v", got)
	}
	if res.Steps[0].Behind == "" {
		t.Error("a step with overrun kept up")
	}
}

func TestForeignStaleAndCorruptDeliveriesAreCountedAndNotMeasured(t *testing.T) {
	r := newRig(t, memory.Config{}, 1_000_000, 200*time.Millisecond)
	payload := func(id envelope.ID) []byte {
		b := make([]byte, 20)
		envelope.Encode(b, id)
		return b
	}
	tag := tagOf("test", 0)
	corrupt := payload(envelope.ID{Tag: tag, Seq: 5})
	corrupt[13] ^= 1
	q := newFaulty(memory.Faults{})
	q.inject = [][]byte{
		[]byte("somebody else's message"), nil, corrupt,
		payload(envelope.ID{Tag: tag + 1, Seq: 5}),                     // of another step
		payload(envelope.ID{Tag: tag, Producer: 9, Seq: 5}),            // of a producer that there is not
		payload(envelope.ID{Tag: tag, Seq: 1 << 40}),                   // beyond the schedule
		payload(envelope.ID{Kind: envelope.End, Tag: tag + 1, Seq: 5}), // another step's end
	}
	r.opens(func() (queue.Queue, error) { return q, nil })
	accounting(t, r, rawlog.Accounting{Scheduled: 200, Attempted: 200, Acked: 200, Received: 200, Foreign: 7})
	if len(r.manifest(t).Warnings) == 0 {
		t.Error("foreign messages are no warning")
	}
}

func TestDisorderIsCounted(t *testing.T) {
	// After the freeze many messages come in one batch, which is turned round.
	r := newRig(t, memory.Config{}, 2_000_000, 400*time.Millisecond)
	q := newFaulty(memory.Faults{Freezes: []memory.Freeze{{After: 100 * time.Millisecond, For: 100 * time.Millisecond}}})
	q.reorder = true
	r.opens(func() (queue.Queue, error) { return q, nil })
	res, err := Run(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if a := res.Steps[0].Accounting; a.OutOfOrder < 100 || a.OutOfOrder > 799 || a.Received != 800 || a.Lost != 0 {
		t.Errorf("got %+v", a)
	}
}

func TestAFateThatIsToldTwiceIsAnErrorOfTheQueue(t *testing.T) {
	r := newRig(t, memory.Config{}, 1_000_000, 200*time.Millisecond)
	q := newFaulty(memory.Faults{})
	q.ackTwice = true
	r.opens(func() (queue.Queue, error) { return q, nil })
	res, err := Run(t.Context(), r.cfg)
	if err == nil || !strings.Contains(err.Error(), "told a fate twice") || res.Steps[0].Complete {
		t.Errorf("got %v", err)
	}
}

func TestRising(t *testing.T) {
	series := func(f func(x float64) float64) (p []point) {
		for i := range 100 {
			p = append(p, point{int64(i) * 1e8, f(float64(i) / 100)})
		}
		return p
	}
	for _, c := range []struct {
		name   string
		f      func(x float64) float64
		behind bool
	}{
		{"level", func(float64) float64 { return 1000 }, false},
		{"a saw-tooth of commits", func(x float64) float64 { return float64(int(x*100)%2) * 1000 }, false},
		{"rising", func(x float64) float64 { return 50_000 * x }, true},
		{"rose and is level", func(x float64) float64 { return 50_000 * min(x, 0.4) }, false},
		{"falling", func(x float64) float64 { return 50_000 * (1 - x) }, false},
	} {
		if got := rising(series(c.f), 10e9, 10_000); (got != "") != c.behind {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestWhatTheLogDidToAStepIsAWarning(t *testing.T) {
	before := logwriter.Stats{Blocked: 3, BlockedNs: 10_000_000, UploadRetries: 1}
	if got := logTrouble(before, before); len(got) != 0 {
		t.Errorf("%q", got)
	}
	now := logwriter.Stats{Blocked: 5, BlockedNs: 30_000_000, UploadRetries: 4, UploadError: "503 SlowDown"}
	got := strings.Join(logTrouble(before, now), "\n")
	for _, want := range []string{"2 times, for 20ms", "3 uploads", "503 SlowDown"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

func TestTopicsShareTheRateAndEachGroupGetsAllOfThem(t *testing.T) {
	r := newRig(t, memory.Config{Partitions: 2}, 10_000_000, 300*time.Millisecond)
	l := r.plan()
	l.Load.Topics, l.Load.Producers, l.Load.Groups, l.Load.Consumers = 3, 2, 2, 1
	accounting(t, r, rawlog.Accounting{Scheduled: 3000, Attempted: 3000, Acked: 3000, Received: 3000})
	producers := map[int64]map[string]bool{} // consumer → topics that it read
	r.rows(t, "received", []string{"consumer", "producer"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
		for i := range n {
			c := v[0].Ints[i]
			if producers[c] == nil {
				producers[c] = map[string]bool{}
			}
			producers[c][fmt.Sprint(v[1].Ints[i]/2)] = true
		}
	})
	if len(producers) != 6 {
		t.Errorf("%d consumers received something, want 3 topics × 2 groups", len(producers))
	}
	for c, topics := range producers {
		if len(topics) != 1 {
			t.Errorf("consumer %d read %d topics", c, len(topics))
		}
	}
}
