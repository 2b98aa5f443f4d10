//go:build !js

package analysis

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/rawlog"
)

// closedLog is the log of a closed loop of n operations, a millisecond each, of
// which the first ten are warm-up and take ten times as long, one after the
// other.
func closedLog(t *testing.T, mode string, n int) memorySource {
	var r rows
	at := int64(testStart)
	var warm int64
	for i := range n {
		took := int64(time.Millisecond)
		if i < 10 {
			took *= 10
		} else if warm == 0 {
			warm = at
		}
		sent := rawlog.SentRow{Seq: int64(i), IntendedNs: at, SentNs: at, AckedNs: at + took, Status: rawlog.Acked, Offset: int64(i)}
		got := rawlog.ReceivedRow{Group: "g", Seq: int64(i), ReceivedNs: at + took, Offset: int64(i)}
		if mode == rawlog.ModeConsume { // all were sent at the start, and polls return two
			sent.IntendedNs, sent.SentNs, sent.AckedNs = testStart, testStart, testStart+1
			got.PolledNs = at
		}
		if mode == rawlog.ModeProduce {
			got.ReceivedNs += int64(50 * time.Millisecond)
		}
		r.sent = append(r.sent, sent)
		r.received = append(r.received, got)
		if mode == rawlog.ModeConsume {
			got.Seq, got.Offset = int64(n+i), int64(n+i)
			sent.Seq, sent.Offset = got.Seq, got.Offset
			r.sent = append(r.sent, sent)
			r.received = append(r.received, got)
		}
		at += took
	}
	slices.SortStableFunc(r.sent, func(a, b rawlog.SentRow) int { return int(a.Seq - b.Seq) })
	src, m := logOf(t, 1000, float64(n), time.Duration(at-testStart), r)
	e := &m.Steps[0]
	e.Loop, e.Mode, e.Workers, e.Concurrency = rawlog.LoopClosed, mode, 1, 1
	e.Operations, e.WarmupOperations, e.WarmupNs = int64(n-10), 10, warm-testStart
	src.put(t, m)
	return src
}

func TestAClosedLoopIsCutByItsOperationsAndSaysWhatItIs(t *testing.T) {
	for mode, kind := range map[string]Kind{rawlog.ModeProduce: Publish, rawlog.ModeConsume: Poll, rawlog.ModeEndToEnd: EndToEnd} {
		t.Run(mode, func(t *testing.T) {
			d, err := Read(t.Context(), closedLog(t, mode, 1010), Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := Summarize(d, View{})
			x := s.Steps[0]
			if time.Duration(x.WarmupNs) != 100*time.Millisecond || !strings.Contains(x.WarmupRule, "10 operations") {
				t.Errorf("the cut is at %v (%s)", time.Duration(x.WarmupNs), x.WarmupRule)
			}
			l := x.Latencies[kind.String()]
			if l.N != 1000 || l.MinNs != 1e6 || l.MaxNs != 1e6 || !l.Percentiles["99"].Supported {
				t.Errorf("%s: %+v", kind, l)
			}
			if x.Loop == nil || x.Loop.Label != ClosedLoop || x.Loop.Latency != kind.String() || x.Loop.PerSecond < 999 || x.Loop.PerSecond > 1001 {
				t.Errorf("loop %+v", x.Loop)
			}
			if x.Accounting.RecordsRejected != 0 || x.Accounting.Lost != 0 {
				t.Errorf("accounting %+v", x.Accounting)
			}
			ids := []string{}
			for _, f := range x.Findings {
				ids = append(ids, f.ID)
			}
			if !slices.Contains(ids, "closed-loop") || slices.Contains(ids, "not-keeping-up") || slices.Contains(ids, "draining-a-burst") || slices.Contains(ids, "no-data") {
				t.Errorf("findings %q", ids)
			}
			var text bytes.Buffer
			if err := WriteText(&text, s); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"Closed loop: intended = sent; coordinated omission is possible", "operations/s", mode} {
				if !strings.Contains(text.String(), want) {
					t.Errorf("the text lacks %q:\n%s", want, text.String())
				}
			}
			if got := (View{}).Of(d).Kind; got != kind {
				t.Errorf("the figures show %s", got)
			}
			// A digest says the same.
			var file bytes.Buffer
			if err := WriteDigest(&file, d); err != nil {
				t.Fatal(err)
			}
			again, err := ReadDigest(&file)
			if err != nil {
				t.Fatal(err)
			}
			if got := Summarize(again, View{}); !reflect.DeepEqual(got, s) {
				t.Errorf("from the digest %+v\nfrom the log %+v", got.Steps[0], x)
			}
		})
	}
}

func TestADrainIsNamedAndNotCut(t *testing.T) {
	var r rows
	for i := range 1000 {
		at := testStart + int64(i)*int64(time.Millisecond)
		r.sent = append(r.sent, rawlog.SentRow{Seq: int64(i), IntendedNs: at, SentNs: at, AckedNs: at + 1, Status: rawlog.Acked, Offset: int64(i)})
		r.received = append(r.received, rawlog.ReceivedRow{Group: "g", Seq: int64(i), ReceivedNs: testStart + int64(time.Second) + int64(i)*1e5, Offset: int64(i)})
	}
	src, m := logOf(t, 1000, 1000, 1100*time.Millisecond, r)
	m.Steps[0].Drain = &rawlog.Drain{ReleasedNs: testStart + 1e9, DrainedNs: testStart + 11e8, Backlog: 1000, Received: 1000, PerSecond: 10_000}
	src.put(t, m)
	d, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := Summarize(d, View{}).Steps[0]
	if x.WarmupNs != 0 || x.Accounting.RecordsTrimmed != 0 || x.Drain == nil {
		t.Errorf("cut %d (%s), %+v", x.WarmupNs, x.WarmupRule, x.Accounting)
	}
	found := ""
	for _, f := range x.Findings {
		if f.ID == "draining-a-backlog" {
			found = f.Text
		}
		if f.ID == "draining-a-burst" || f.ID == "not-keeping-up" || f.ID == "runner-limited" {
			t.Errorf("finding %s: %s", f.ID, f.Text)
		}
	}
	if !strings.Contains(found, "1,000 messages waited, and they were gone after 100 ms, at 10,000 messages per second") {
		t.Errorf("finding %q", found)
	}
}

func TestACapacityIsTheRunsHeadline(t *testing.T) {
	d := &Digest{Manifest: rawlog.Manifest{Capacity: &rawlog.Capacity{Converged: true, Rate: 9690, NotHeld: 9932, Why: "it grew", ConfirmNs: 20e9}}}
	if f := capacityFound(d); f == nil || f.Severity != Note || !strings.Contains(f.Text, "9,690 msg/s: it held for 20 s, and at 9,932 msg/s it grew") {
		t.Errorf("%+v", f)
	}
	d.Manifest.Capacity = &rawlog.Capacity{Reason: "every rate held"}
	if f := capacityFound(d); f == nil || f.Severity != Warning || !strings.Contains(f.Text, "no answer: every rate held") {
		t.Errorf("%+v", f)
	}
}
