package analysis

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// change is a step with something done to it.
func change(s StepDigest, f func(*StepDigest)) StepDigest {
	f(&s)
	return s
}

// calm is a step with nothing to say: 40 s at 500 msg/s around 20 ms.
func calm(t *testing.T) StepDigest {
	return synthStep(t, 0, 500, 40*sec, 200*ms, schedule(20_000, 500, steady(20*ms)))
}

// with makes a run of one step and changes it, manifest included.
func with(s StepDigest, f func(*Digest)) *Digest {
	d := synthDigest(s)
	if f != nil {
		f(d)
	}
	return d
}

// counts sets the accounting in the digest and in the manifest alike.
func counts(d *Digest, f func(*Accounting)) {
	a := &d.Steps[0].Accounting
	f(a)
	m := &d.Manifest.Steps[0].Accounting
	m.Scheduled, m.Attempted, m.Acked, m.Failed, m.Unconfirmed, m.Overrun = a.Scheduled, a.Attempted, a.Acked, a.Failed, a.Unconfirmed, a.Overrun
	m.Received, m.Lost, m.Duplicates, m.OutOfOrder = a.Received, a.Lost, a.Duplicates, a.OutOfOrder
}

func TestACalmRunHasNothingToSay(t *testing.T) {
	s := Summarize(with(calm(t), nil), View{Percentiles: []float64{50, 99}})
	if len(s.Findings)+len(s.Steps[0].Findings) > 0 {
		t.Errorf("findings of a calm run: %+v %+v", s.Findings, s.Steps[0].Findings)
	}
}

// stepCases are those about steps of a schedule.
func stepCases(t *testing.T) []findingCase {
	base := calm(t)
	ramp := func(perSecond time.Duration, seconds int) StepDigest {
		r := rand.New(rand.NewPCG(3, 3))
		n := seconds * 500
		return synthStep(t, 0, 500, time.Duration(seconds)*sec, 200*ms, schedule(n, 500, func(_ int, at time.Duration) time.Duration {
			return 100*ms + time.Duration(float64(perSecond)*at.Seconds()) + time.Duration(r.Int64N(int64(5*ms)))
		}))
	}
	backlog := func(s StepDigest, perSecond int64) StepDigest {
		for i := int64(1); i <= 40; i++ {
			s.Seconds = append(s.Seconds, Second{At: time.Duration(i) * sec, Backlog: 100 + i*perSecond})
		}
		return s
	}
	lagging := func(own time.Duration) StepDigest {
		m := schedule(20_000, 500, steady(20*ms))
		for i := range m {
			if i%50 == 0 { // 2 % of the messages
				m[i].sent, m[i].own = m[i].intended+own, own
			}
		}
		return synthStep(t, 0, 500, 40*sec, 200*ms, m)
	}
	stalled := func(every int) StepDigest {
		return synthStep(t, 0, 500, 40*sec, 200*ms, schedule(20_000, 500, func(i int, at time.Duration) time.Duration {
			if at > 20*sec && at < 20*sec+600*ms || every > 0 && i%every == 0 {
				return 20*sec + 700*ms - min(at, 20*sec+600*ms) + 300*ms
			}
			return 20*ms + time.Duration(i%7)*ms
		}))
	}
	commits := func(interval, latency, put, commit time.Duration) *Digest {
		return with(synthStep(t, 0, 500, 40*sec, 200*ms, schedule(20_000, 500, steady(latency))), func(d *Digest) {
			d.Manifest.Queue.CommitInterval = interval
			d.Steps[0].Commits = CommitStats{Commits: 400, MedianPutNs: int64(put), MedianCommit: int64(commit)}
		})
	}
	burst := func(span, drain time.Duration) StepDigest {
		const n = 2000
		m := make([]msg, n)
		for i := range m {
			at := span * time.Duration(i) / n
			m[i] = msg{intended: at, sent: at, acked: at + ms, received: 12*ms + drain*time.Duration(i)/n}
			m[i].received = max(m[i].received, at+12*ms)
		}
		return synthStep(t, 0, n/span.Seconds(), span, max(10*ms, span/20), m)
	}
	return []findingCase{
		{"step-failed", Failure, with(change(base, func(s *StepDigest) { s.Failure, s.Complete = "no such bucket", false }), nil),
			with(change(base, func(s *StepDigest) { s.Complete = false }), nil), "no such bucket"},
		{"step-incomplete", Warning, with(change(base, func(s *StepDigest) { s.Complete = false }), nil), with(base, nil), "watermark"},
		{"nothing-acknowledged", Failure,
			with(base, func(d *Digest) {
				counts(d, func(a *Accounting) { a.Failed, a.Acked, a.Received = a.Attempted, 0, 0 })
			}),
			with(base, func(d *Digest) { counts(d, func(a *Accounting) { a.Failed, a.Acked = a.Attempted-1, 1 }) }), "none of 20,000 messages"},
		{"no-data", Warning, with(change(base, func(s *StepDigest) { s.Intervals = nil }), nil), with(base, nil), "No data"},
		{"accounting-breach", Failure, with(base, func(d *Digest) { d.Steps[0].Accounting.Acked-- }), with(base, nil), "attempted and its fates: 20,000 against 19,999"},
		{"accounting-breach", Failure, with(base, func(d *Digest) { d.Manifest.Steps[0].Accounting.Lost = 1 }),
			with(base, func(d *Digest) { // an incomplete log has other counts than the runner
				d.Manifest.Steps[0].Accounting.Lost = 1
				d.Steps[0].Complete = false
			}), "lost, rows and runner: 0 against 1"},
		{"end-to-end-only", Note, with(change(base, func(s *StepDigest) { s.EndToEndOnly = true }), nil), with(base, nil), "Only end-to-end latencies"},
		{"clocks-not-comparable", Failure, with(change(base, func(s *StepDigest) { s.NoEndToEnd = "hosts a and b" }), nil), with(base, nil), "hosts a and b"},
		{"messages-lost", Failure, with(base, func(d *Digest) { counts(d, func(a *Accounting) { a.Lost = 3 }) }), with(base, nil), "3 messages of 20,000"},
		{"messages-lost", Warning, with(base, func(d *Digest) {
			d.Manifest.Queue.LosesNothing = false
			counts(d, func(a *Accounting) { a.Lost = 1 })
		}), with(base, nil), "1 message of 20,000"},
		{"duplicates", Failure, with(base, func(d *Digest) { counts(d, func(a *Accounting) { a.Duplicates = 2 }) }), with(base, nil), "2 deliveries"},
		{"duplicates", Warning, with(base, func(d *Digest) {
			d.Manifest.Queue.DeliversOnce = false
			counts(d, func(a *Accounting) { a.Duplicates = 2 })
		}), with(base, nil), "at least once"},
		{"out-of-order", Warning, with(base, func(d *Digest) { counts(d, func(a *Accounting) { a.OutOfOrder = 2 }) }), with(base, nil), "2 messages"},
		{"messages-failed", Warning, with(base, func(d *Digest) { counts(d, func(a *Accounting) { a.Failed, a.Acked = 5, a.Acked-5 }) }), with(base, nil), "refused 5 messages"},
		{"messages-unconfirmed", Warning, with(base, func(d *Digest) { counts(d, func(a *Accounting) { a.Unconfirmed, a.Acked = 5, a.Acked-5 }) }), with(base, nil), "fate of 5 messages"},
		{"received-unacknowledged", Note, with(base, func(d *Digest) { d.Steps[0].Accounting.ReceivedUnacked = 4 }), with(base, nil), "4 messages came"},
		{"overrun", Warning, with(base, func(d *Digest) {
			counts(d, func(a *Accounting) { a.Overrun, a.Attempted, a.Acked = 500, a.Attempted-500, a.Acked-500 })
		}), with(base, nil), "500 messages of the schedule (2.50 %)"},
		{"foreign-messages", Warning, with(base, func(d *Digest) { d.Steps[0].Accounting.Foreign = 1 }), with(base, nil), "1 delivery"},
		{"rows-rejected", Warning, with(base, func(d *Digest) { d.Steps[0].Accounting.RecordsRejected = 2 }), with(base, nil), "2 rows"},
		{"not-keeping-up", Warning, with(ramp(50*ms, 40), nil), with(ramp(200*time.Microsecond, 40), nil), "latency grows by 3.0"},
		{"not-keeping-up", Warning, with(backlog(base, 6), nil), with(backlog(base, 4), nil), "backlog grows by 6"},
		{"too-short-for-growth", Note, with(ramp(0, 20), nil), with(ramp(0, 24), nil), "18 medians"},
		{"runner-limited", Warning, with(lagging(3*ms), nil), with(lagging(1900*time.Microsecond), nil), "late by 3.0"},
		{"clock-skew", Warning, with(synthStep(t, 0, 500, 40*sec, 200*ms, schedule(20_000, 500, func(i int, _ time.Duration) time.Duration {
			return time.Duration(i%20)*ms - 5*ms
		})), nil), with(synthStep(t, 0, 500, 40*sec, 200*ms, schedule(20_000, 500, func(i int, _ time.Duration) time.Duration {
			return time.Duration(i%20) * ms
		})), nil), "down to −5.00 ms"},
		{"commit-interval-bound", Note, commits(100*ms, 62*ms, 5*ms, 4*ms), commits(100*ms, 110*ms, 5*ms, 4*ms), "100 ms sets the latency"},
		{"commits-slower-than-interval", Warning, commits(10*ms, 90*ms, 40*ms, 30*ms), commits(100*ms, 90*ms, 60*ms, 40*ms), "takes 70.0 ms"},
		{"tail-from-stalls", Note, with(stalled(0), nil), with(stalled(40), nil), "1 moment"},
		{"requests-retried", Warning, with(change(base, func(s *StepDigest) {
			s.Events = []Event{{At: 2 * sec, Kind: "retry"}, {At: 3 * sec, Kind: "throttled"}, {At: 4 * sec, Kind: "retry"}, {At: 5 * sec, Kind: "end"}}
		}), nil), with(change(base, func(s *StepDigest) { s.Events = []Event{{At: sec, Kind: "phase"}} }), nil), "3 requests of the queue to its store failed and had to be tried again, from 2 s to 4 s of the step; 1 of them"},
		{"faults-struck", Note, with(change(base, func(s *StepDigest) {
			s.Events = []Event{{At: 4 * sec, Kind: "fault", Text: "the server pauses", Duration: 2 * sec}, {At: 9 * sec, Kind: "fault", Text: "it is killed"}}
		}), nil), with(change(base, func(s *StepDigest) { s.Events = []Event{{At: 4 * sec, Kind: "fault over"}} }), nil), "2 faults struck on purpose: the server pauses at 4 s: did not show; it is killed at 9 s: did not show."},
		{"draining-a-burst", Warning, with(burst(100*ms, sec), nil), with(burst(sec, 2*sec), nil), "2,000 messages arrived within 100 ms"},
	}
}

func TestViewFindings(t *testing.T) {
	d := with(calm(t), nil)
	find := func(v View, id string) *Finding { return findingOf(Summarize(d, v).Steps[0].Findings, id) }
	if f := find(view(40*sec), "warmup-longer-than-step"); f == nil || f.Severity != Failure {
		t.Errorf("a warm-up as long as the step: %+v", f)
	}
	if f := find(view(39*sec), "warmup-longer-than-step"); f != nil {
		t.Errorf("a warm-up of 39 s: %+v", f)
	}
	moved := Summarize(d, view(1300*ms)).Steps[0]
	if f := findingOf(moved.Findings, "warmup-moved"); f == nil || moved.WarmupNs != int64(1400*ms) || !strings.Contains(moved.WarmupRule, "moved") {
		t.Errorf("1.3 s on a grid of 200 ms: %+v, cut at %d, %s", f, moved.WarmupNs, moved.WarmupRule)
	}
	if f := find(view(1400*ms), "warmup-moved"); f != nil {
		t.Errorf("1.4 s on a grid of 200 ms: %+v", f)
	}
	broken := with(change(calm(t), func(s *StepDigest) {
		s.Breakdown = Breakdown{From: 4 * sec, To: 40 * sec, Shares: []Share{{By: ByGroup, Key: "a"}, {By: ByGroup, Key: "b"}}}
	}), nil)
	if f := findingOf(Summarize(broken, view(6*sec)).Steps[0].Findings, "breakdown-cut"); f == nil || !strings.Contains(f.Text, "is of 4 s to 40 s of the schedule, all other numbers of 6 s to 40 s") {
		t.Errorf("a cut of 6 s of a breakdown from 4 s on: %+v", f)
	}
	if f := findingOf(Summarize(broken, View{}).Steps[0].Findings, "breakdown-cut"); f != nil {
		t.Errorf("a cut of 4 s of a breakdown from 4 s on: %+v", f)
	}
	if f := find(view(0, 50, 99.99), "too-few-samples"); f == nil || !strings.Contains(f.Text, "p99.99 needs 36,887 messages") {
		t.Errorf("p99.99 of 20,000: %+v", f)
	}
	if f := find(view(0, 50, 99.9), "too-few-samples"); f != nil {
		t.Errorf("p99.9 of 20,000: %+v", f)
	}
	if err := view(40 * sec).Check(d); err == nil || !strings.Contains(err.Error(), "shorter --warmup") {
		t.Errorf("Check: %v", err)
	}
	if err := view(39 * sec).Check(d); err != nil {
		t.Errorf("Check: %v", err)
	}
}

// runCases are those about a run as a whole.
func runCases(t *testing.T) []findingCase {
	base := calm(t)
	second := change(base, func(s *StepDigest) { s.Step, s.Rate = 1, 1000 })
	bad := change(second, func(s *StepDigest) { s.Failure = "broken" })
	sweep := func(steps ...StepDigest) *Digest { return synthDigest(steps...) }
	return []findingCase{
		{"run-incomplete", Warning, with(base, func(d *Digest) { d.Manifest.Complete, d.Manifest.Reason = false, "interrupted" }), with(base, nil), "interrupted"},
		{"empty-run", Failure, with(base, func(d *Digest) { d.Steps[0].Accounting = Accounting{} }), with(base, nil), "No data"},
		{"in-process-floor", Warning, with(base, func(d *Digest) { d.Manifest.Queue.InProcess = true }), with(base, nil), "In-process floor"},
		{"in-process-floor", Warning, with(base, func(d *Digest) { d.Manifest.Store.Embedded = true }),
			with(base, func(d *Digest) { d.Manifest.LogStore.Embedded = true }), "embedded server"},
		{"shared-store", Note, with(base, func(d *Digest) { d.Manifest.LogStore.Address = "s3://b/z?endpoint=http://one:9000" }), with(base, nil), "http://one:9000"},
		{"highest-rate", Note, sweep(base, bad), sweep(base), "The highest rate that held is 500 msg/s: at 1,000 msg/s it failed."},
		{"highest-rate", Note, sweep(base, second), sweep(base), "Every rate held, up to 1,000 msg/s"},
		{"highest-rate", Warning, sweep(change(base, func(s *StepDigest) { s.Failure = "x" }), second), sweep(base), "No rate held"},
	}
}

func TestSameStore(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"s3://x/a", "s3://x/b", true},
		{"s3://x/a", "s3://y/a", false},
		{"s3://x/a?endpoint=http://h:1&region=r", "s3://y/b?endpoint=http://h:1", true},
		{"s3://x/a?endpoint=http://h:1", "s3://x/a?endpoint=http://h:2", false},
		{"./queuebench-data/q", "./queuebench-data/log", true},
		{"/data/q", "/data/log", true},
		{"/data/q", "/log/q", false},
		{"", "", false},
	} {
		d := synthDigest(StepDigest{})
		d.Manifest.Store.Address, d.Manifest.LogStore.Address = c.a, c.b
		if got := sharedStore(d) != nil; got != c.same {
			t.Errorf("%s and %s: %v, want %v", c.a, c.b, got, c.same)
		}
	}
}

func TestSignificantDigits(t *testing.T) {
	for v, want := range map[float64]string{0.00012: "0.000120", 2.5: "2.50", 99.95: "100", 9.999: "10.0", 1234: "1234"} {
		if got := significant(v); got != want {
			t.Errorf("significant(%g) = %q, want %q", v, got, want)
		}
	}
	if got := formatNs(math.Inf(1)); got != "∞" {
		t.Errorf("infinite: %q", got)
	}
}

// A backlog in proportion to a rate that climbs is that of a queue that keeps
// up; the same backlog at one rate is growth.
func TestABacklogThatFollowsTheRateIsNoGrowth(t *testing.T) {
	const n = 40
	var m []msg
	for second := range n { // from 100 to 490 messages a second
		k := 100 + 10*second
		for i := range k {
			at := sec*time.Duration(second) + sec*time.Duration(i)/time.Duration(k)
			m = append(m, msg{intended: at, sent: at, acked: at + ms, received: at + sec})
		}
	}
	for _, profile := range []string{"0s:100,40s~500", ""} {
		s := synthStep(t, 0, float64(len(m))/n, n*sec, 200*ms, m)
		for second := range n {
			s.Seconds = append(s.Seconds, Second{At: sec * time.Duration(second+1), Backlog: int64(100 + 10*second)})
		}
		d := synthDigest(s)
		d.Manifest.Steps[0].RateProfile = profile
		f := findingOf(Summarize(d, View{}).Steps[0].Findings, "not-keeping-up")
		if (f != nil) != (profile == "") {
			t.Errorf("profile %q: %+v", profile, f)
		}
	}
}
