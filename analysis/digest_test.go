package analysis

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"queuebench/clock"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/stats"
)

func randomCompact(r *rand.Rand) stats.Compact {
	var h stats.Counter
	for n := r.IntN(60); n > 0; n-- {
		v := r.Int64N(1 << (1 + r.IntN(50)))
		if r.IntN(4) == 0 {
			v = -v
		}
		if h.Record(v) != nil {
			panic("out of range")
		}
	}
	return h.Take()
}

func randomText(r *rand.Rand) string {
	return []string{"", "plain", "a,b \"c\"\n<script>", "]", "Tag=x,1,2", "p99 µs ∞"}[r.IntN(6)]
}

func randomDigest(r *rand.Rand) *Digest {
	d := &Digest{Manifest: rawlog.Manifest{
		Schema: rawlog.SchemaVersion, Run: "r" + randomText(r), Complete: r.IntN(2) == 0, Reason: randomText(r),
		Host: rawlog.Host{Name: randomText(r), CPUs: 2}, Clock: clock.Identity{Host: "h", AnchorNs: r.Int64()},
		StartedNs: 1_700_000_000e9, Queue: queue.Info{Kind: "delta", CommitInterval: time.Duration(r.Int64N(1e9))},
		Settings: map[string]string{"rates": randomText(r)}, Warnings: []string{randomText(r)},
		Steps: []rawlog.Step{{Step: 1, Groups: []string{"g"}, Requests: map[string]int64{"put": 3}}},
	}}
	if r.IntN(4) == 0 {
		d.Manifest = rawlog.Manifest{}
	}
	for i := range r.IntN(4) {
		s := StepDigest{Step: i, Repeat: r.IntN(3), Rate: 1000 * r.Float64(), Complete: r.IntN(2) == 0, Failure: randomText(r), NoEndToEnd: randomText(r),
			StartNs: 1_700_000_000e9 + r.Int64N(1e12), Duration: time.Duration(r.Int64N(1e12)), Interval: time.Duration(r.Int64N(1e9)),
			Accounting: Accounting{Scheduled: r.Int64N(1e9), Lost: r.Int64N(9), RecordsRejected: r.Int64N(9)},
			Commits:    CommitStats{Commits: r.Int64N(1e6), MedianCommit: r.Int64N(1e9)}}
		if r.IntN(2) == 0 {
			s.Settings = map[string]string{"a": randomText(r)}
		}
		n := r.IntN(5)
		for _, c := range secondColumns {
			if n > 0 && r.IntN(2) == 0 {
				s.Told = append(s.Told, c.Name)
			}
		}
		for range n {
			s.ReceivedPerSecond = append(s.ReceivedPerSecond, r.Int64N(1e6))
			row := Second{At: time.Duration(r.Int64())}
			for _, c := range secondColumns {
				if s.Tells(c.Name) {
					*c.of(&row) = r.Int64()
				}
			}
			s.Seconds = append(s.Seconds, row)
			s.CommitsPerSecond = append(s.CommitsPerSecond, CommitSecond{r.Int64N(99), r.Int64(), r.Int64(), r.Int64N(2), r.Int64()})
			s.Events = append(s.Events, Event{time.Duration(-r.Int64N(1e9)), randomText(r), randomText(r), randomText(r), time.Duration(r.Int64N(3))})
		}
		var at time.Duration
		for range r.IntN(12) {
			iv := Interval{Start: at, End: at + 1 + time.Duration(r.Int64N(1e9)), Scheduled: r.Int64N(1e6), Unknown: r.Int64N(3), Blocked: time.Duration(r.Int64N(1e9))}
			at = iv.End
			for k := range NumKinds {
				if r.IntN(3) > 0 {
					iv.Latency[k] = randomCompact(r)
				}
				if r.IntN(5) == 0 {
					iv.Infinite[k] = r.Int64N(50)
				}
			}
			switch r.IntN(3) {
			case 0:
				iv.OwnLag = randomCompact(r)
			case 1:
				iv.OwnLag = iv.Latency[SendLag]
			}
			s.Intervals = append(s.Intervals, iv)
		}
		if r.IntN(2) == 0 {
			s.Breakdown = Breakdown{From: time.Duration(r.Int64N(9)), To: 10 * time.Second, Left: r.Int64N(2)}
			for range r.IntN(4) {
				x := Share{By: ByGroup, Key: randomText(r), Folded: r.IntN(3)}
				for k := range NumKinds {
					if r.IntN(2) == 0 {
						x.Latency[k] = randomCompact(r)
					}
					if r.IntN(4) == 0 {
						x.Infinite[k] = r.Int64N(9)
					}
				}
				s.Breakdown.Shares = append(s.Breakdown.Shares, x)
			}
		}
		s.Stamps = Stamps{Deliveries: r.Int64(), BrokerUnitNs: 1000}
		d.Steps = append(d.Steps, s)
	}
	d.adopt()
	return d
}

func write(t testing.TB, d *Digest) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := WriteDigest(&buf, d); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestDigestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 30 {
		d := randomDigest(r)
		text := write(t, d)
		if i%2 == 0 {
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			if _, err := w.Write(text); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			text = z.Bytes()
		}
		got, err := ReadDigest(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, d) {
			t.Fatalf("digest %d comes back changed:\ngot  %+v\nwant %+v", i, got, d)
		}
	}
}

// Other tools read the histogram lines: the library's reader finds each of
// them, with its tag, its time and its values.
func TestDigestIsAStandardLog(t *testing.T) {
	s := synthStep(t, 0, 1000, 5*sec, 100*ms, schedule(5000, 1000, steady(20*ms)))
	d := synthDigest(s)
	r := hdrhistogram.NewHistogramLogReader(bytes.NewReader(write(t, d)))
	counts := map[string]int64{}
	lines := 0
	for {
		h, err := r.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		lines++
		counts[h.Tag()] += h.TotalCount()
		if at := h.StartTimeMs() - s.StartNs/1e6; at < 0 || at >= 5000 {
			t.Fatalf("a line at %d ms of the step", at)
		}
	}
	for k := range SendLag + 1 {
		if tag := "step=0/repeat=0/" + k.String(); counts[tag] != 5000 {
			t.Errorf("%s: the library counts %d values, want 5000", tag, counts[tag])
		}
	}
	if lines < 200 {
		t.Errorf("the library reads %d lines", lines)
	}
}

func TestReadDigestRefusals(t *testing.T) {
	d := synthDigest(synthStep(t, 0, 1000, sec, 100*ms, schedule(1000, 1000, steady(20*ms))))
	good := string(write(t, d))
	lines := strings.SplitAfter(good, "\n")
	for name, c := range map[string]struct {
		text string
		want string
		is   error
	}{
		"nothing":       {"", "no manifest", ErrNotDigest},
		"text":          {"hello\nworld\n", "", ErrNotDigest},
		"parquet":       {"PAR1\x00\x01\x02", "", ErrNotDigest},
		"other log":     {strings.Join(lines[:4], "") + lines[8], "without a manifest", ErrNotDigest},
		"cut":           {strings.Join(lines[:len(lines)-5], ""), "cut short", nil},
		"cut in a line": {good[:len(good)/2], "", nil},
		"newer":         {strings.Replace(good, "digest/1 manifest", "digest/2 manifest", 1), "newer", nil},
		"line gone":     {strings.Join(lines[:8], "") + strings.Join(lines[9:], ""), "is due", nil},
		"line twice":    {strings.Join(lines[:8], "") + lines[7] + strings.Join(lines[8:], ""), "is due", nil},
		"other n":       {strings.Replace(good, `"n":[100,`, `"n":[101,`, 1), "not 101", nil},
		"columns":       {strings.Replace(good, `"edges_ns":[0,`, `"edges_ns":[`, 1), "lengths", nil},
	} {
		_, err := ReadDigest(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
