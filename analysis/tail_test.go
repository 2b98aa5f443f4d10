//go:build !js

package analysis

import (
	"bytes"
	"strings"
	"testing"

	"queuebench/rawlog"
)

// tailed is the log of a tail: rows every 10 ms over 2 s, each 5 ms old, of
// which the first 20 were there before and one has no stamp.
func tailed(t *testing.T, old int64) (memorySource, *rawlog.Manifest) {
	t.Helper()
	var r rows
	for i := range int64(200) {
		at := testStart + i*10*int64(ms)
		row := rawlog.ReceivedRow{Group: "tail", Seq: i, ReceivedNs: at, BrokerNs: at - old, BrokerKind: "column", Partition: 0, Offset: i}
		if i < 20 {
			row.BrokerNs = 1 // long ago
		}
		if i == 100 {
			row.BrokerNs, row.BrokerKind = 0, ""
		}
		r.received = append(r.received, row)
	}
	src, m := logOf(t, 70, 100, 2*sec, r)
	s := &m.Steps[0]
	s.Loop, s.Producers = rawlog.LoopTail, 0
	s.Accounting = rawlog.Accounting{Received: 200}
	s.Tail = &rawlog.Tail{Table: "x", Column: "data", Stamp: "column", StampColumn: "time", StampType: "long", ResolutionNs: 2e6, Present: 19, PresentRows: 20, Unstamped: 1, Retractions: 3, First: 0, Last: 199, Versions: 200}
	m.Queue.LosesNothing, m.Queue.DeliversOnce = false, false
	src.put(t, m)
	return src, m
}

func TestTailOfATableOfOthers(t *testing.T) {
	src, _ := tailed(t, int64(5*ms))
	d, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadDigest(bytes.NewReader(write(t, d)))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Digest{d, again} {
		if err := (View{}).Check(d); err != nil {
			t.Error(err)
		}
		s := Summarize(d, View{})
		x := &s.Steps[0]
		a := x.Accounting
		if a.Received != 200 || a.RecordsUsed != 179 || a.RecordsTrimmed != 0 || a.Scheduled != 0 || a.Lost != 0 || !x.Complete {
			t.Errorf("%+v", a)
		}
		l := x.Latencies[BrokerToConsumer.String()]
		if l.N != 179 || l.MinNs != int64(5*ms) || l.MaxNs != int64(5*ms) || len(x.Latencies) != 1 || x.MainKind() != BrokerToConsumer {
			t.Errorf("%+v", x.Latencies)
		}
		ids := map[string]Severity{}
		for _, f := range append(x.Findings, s.Findings...) {
			ids[f.ID] = f.Severity
		}
		if len(ids) != 4 || ids["tail"] != Note || ids["stamp-clock"] != Note || ids["coarse-stamp"] != Warning || ids["too-few-samples"] != Note {
			t.Errorf("findings %v", ids)
		}
		var text bytes.Buffer
		if err := WriteText(&text, s); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Latency from the column time (long, steps of 2 ms) to the consumer", "by the time of receipt", "there before", "20 were there before the tail began", "3 more took others back"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%q is not in\n%s", want, text.String())
			}
		}
		if strings.Contains(text.String(), "lost") {
			t.Errorf("it speaks of losses:\n%s", text.String())
		}
	}
}

// A stamp of a clock that is ahead gives negative latencies, which are kept.
func TestTailWithAClockAhead(t *testing.T) {
	src, _ := tailed(t, -int64(7*ms))
	d, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := Summarize(d, View{}).Steps[0]
	if l := x.Latencies[BrokerToConsumer.String()]; x.Accounting.Negative != 179 || l.MinNs != -int64(7*ms) {
		t.Errorf("%+v, %+v", x.Accounting, l)
	}
	for _, f := range x.Findings {
		if f.ID == "stamp-clock" && f.Severity == Warning && strings.Contains(f.Text, "−7") {
			return
		}
	}
	t.Errorf("findings %+v", x.Findings)
}
