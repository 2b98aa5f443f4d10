//go:build !js

package analysis

import (
	"strings"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
)

// killedLog is the log of 2,100 messages at 1,000 msg/s, written in 7 goes of
// 300, as it stands when the runner was killed after so many goes of the
// producer and of the consumer.
//
// The writer closes parts on its own clock, so a part may carry a watermark
// that is older than its rows: such a log is written again.
func killedLog(t *testing.T, latency time.Duration, inManifest bool, sent, received int) memorySource {
	for range 50 {
		if src := tryKilledLog(t, latency, inManifest, sent, received); src != nil {
			return src
		}
	}
	t.Fatal("no log came out with the watermarks of its rows")
	return nil
}

func tryKilledLog(t *testing.T, latency time.Duration, inManifest bool, sent, received int) memorySource {
	const goes, each = 7, 300
	store := &memoryStore{objects: memorySource{}}
	id := clock.Identity{Host: "one"}
	l, err := logwriter.New(logwriter.Options{Store: store, Run: "run-1", Clock: id, SpoolDir: t.TempDir(), PartAge: 2 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r := oneStep(goes * each)
	s, c := l.Sent(0, 0, "producer-0"), l.Received(0, 0, "consumer-0")
	kept := map[string]bool{}
	for g := range goes {
		for i := g * each; i < (g+1)*each; i++ {
			s.Append(r.sent[i])
			r.received[i].ReceivedNs = r.sent[i].IntendedNs + int64(latency)
			c.Append(r.received[i])
		}
		s.SetWatermark(testStart + int64(g+1)*each*1e6)
		c.SetWatermark(r.received[(g+1)*each-1].ReceivedNs + 1)
		// Parts are closed by their age; the next go waits for that.
		closed := func() (n int64) {
			for _, p := range l.Parts(0, 0) {
				n += p.Rows
			}
			return n
		}
		for deadline := time.Now().Add(20 * time.Second); closed() < int64(2*(g+1)*each); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d rows are in closed parts after go %d", closed(), g)
			}
		}
		for _, p := range l.Parts(0, 0) {
			if p.Table == rawlog.Sent.Name && g < sent || p.Table == rawlog.Received.Name && g < received {
				kept[p.Name] = true
			}
		}
	}
	if _, err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: "run-1", Clock: id, StartedNs: testStart,
		Settings: map[string]string{"command": "run", "rate": "1000"}}
	if inManifest {
		m.Steps = []rawlog.Step{{Rate: 1000, StartedNs: testStart, DurationNs: int64(2100 * ms), Producers: 1, Groups: []string{"g"}}}
	}
	whole := map[string]int64{
		rawlog.Sent.Name:     testStart + int64(sent)*each*1e6,
		rawlog.Received.Name: testStart + int64(received*each-1)*1e6 + int64(latency) + 1,
	}
	seen := map[string]int64{}
	for _, p := range l.Parts(0, 0) {
		if kept[p.Name] {
			seen[p.Table] = max(seen[p.Table], p.WatermarkNs)
		}
	}
	for table, w := range seen {
		if w < whole[table] {
			return nil
		}
	}
	for _, p := range l.Parts(0, 0) {
		switch {
		case !kept[p.Name]:
			delete(store.objects, p.Name)
		case inManifest:
			m.Steps[0].Parts = append(m.Steps[0].Parts, p)
		}
	}
	store.objects.put(t, m)
	return store.objects
}

// Trap 12: a log that was cut off is analysed up to its watermark, and what
// lies beyond is unknown: neither lost, nor unacknowledged, nor foreign.
func TestTrap12KilledRun(t *testing.T) {
	for _, c := range []struct {
		name             string
		latency          time.Duration
		inManifest       bool
		sent, received   int // goes that are there
		known, scheduled int64
	}{
		{"producer ahead", 10 * ms, true, 5, 3, 900, 1500},
		{"not in run.json", 10 * ms, false, 5, 3, 900, 1500},
		{"consumer ahead", 10 * ms, true, 3, 5, 900, 1500},
		{"nothing received yet", 10 * ms, true, 3, 0, 0, 900},
		{"nothing received yet, not in run.json", 10 * ms, false, 3, 0, 0, 900},
		{"long latency", 500 * ms, true, 5, 3, 900, 1500},
		{"only the end is missing", 10 * ms, true, 7, 7, 2100, 2100},
	} {
		d, err := Read(t.Context(), killedLog(t, c.latency, c.inManifest, c.sent, c.received), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		s := Summarize(d, all())
		x := s.Steps[0]
		a := x.Accounting
		want := Accounting{Scheduled: c.scheduled, Attempted: c.known, Acked: c.known, Received: c.known, Unknown: c.scheduled - c.known, RecordsUsed: c.known}
		if a != want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, a, want)
		}
		if l := latencyOf(x, EndToEnd); l.N != c.known || l.N > 0 && (l.MinNs != int64(c.latency) || l.MaxNs != int64(c.latency)) {
			t.Errorf("%s: %d latencies from %d to %d", c.name, l.N, l.MinNs, l.MaxNs)
		}
		if x.Complete || s.Complete || findingOf(x.Findings, "step-incomplete") == nil || findingOf(s.Findings, "run-incomplete") == nil {
			t.Errorf("%s: not called incomplete: %+v %+v", c.name, s.Findings, x.Findings)
		}
		if x.Rate != 1000 {
			t.Errorf("%s: the rate is %v, the run was asked for 1000", c.name, x.Rate)
		}
		if f := findingOf(x.Findings, "accounting-breach"); f != nil {
			t.Errorf("%s: %s", c.name, f.Text)
		}
	}
}

func TestEmptyLogIsNoData(t *testing.T) {
	src, m := logOf(t, 300, 1000, 2*sec, oneStep(10))
	for _, p := range m.Steps[0].Parts {
		delete(src, p.Name)
	}
	m.Steps[0].Parts, m.Steps[0].Failure, m.Steps[0].Complete = nil, "no such bucket", false
	src.put(t, m)
	_, err := Read(t.Context(), src, Options{})
	if err == nil || !strings.Contains(err.Error(), "no data") || !strings.Contains(err.Error(), "no such bucket") {
		t.Errorf("%v", err)
	}
}

// Clocks of two hosts are not subtracted; what one clock tells is.
func TestTwoHosts(t *testing.T) {
	src, m := logOf(t, 5000, 1000, 2*sec, oneStep(2000))
	for i := range m.Steps[0].Parts {
		if p := &m.Steps[0].Parts[i]; p.Table == rawlog.Received.Name {
			p.Clock.Host = "two"
		}
	}
	src.put(t, m)
	d, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := Summarize(d, all()).Steps[0]
	if f := findingOf(x.Findings, "clocks-not-comparable"); f == nil || !strings.Contains(f.Text, "two") {
		t.Errorf("%+v", x.Findings)
	}
	if latencyOf(x, EndToEnd).N != 0 || latencyOf(x, Publish).N != 2000 || x.Accounting.Received != 2000 || x.Accounting.Lost != 0 {
		t.Errorf("%+v", x)
	}
}

// The join's memory is that of the messages in flight: a few lost ones do not
// hold their blocks, and a delivery that comes very late finds its message.
func TestJoinForgetsWhatIsDone(t *testing.T) {
	const n = 400_000
	s := &StepDigest{StartNs: testStart, Duration: 40 * sec, Interval: 200 * ms}
	s.Intervals = newIntervals(s.Duration, s.Interval, nil)
	j := newJoiner(s, []string{"g"})
	j.maxSeq, j.sentWhole, j.receivedWhole = n, true, true
	most := 0
	at := func(i int64) int64 { return testStart + i*100_000 }
	for i := range int64(n) {
		j.row(0, i, at(i), at(i), at(i)+1e6, 0, rawlog.Acked)
		if i%1000 != 7 { // these are late or lost
			j.delivery(0, 0, i, at(i)+5e6, rawlog.Null)
		}
		most = max(most, j.openCount)
	}
	if most > asideBehind+4 {
		t.Errorf("%d blocks were open at a time", most)
	}
	if len(j.aside) < n/1000-asideBehind*2 {
		t.Errorf("%d messages were moved aside", len(j.aside))
	}
	for i := int64(7); i < n/2; i += 1000 {
		if !j.delivery(0, 0, i, at(i)+20e9, rawlog.Null) || j.delivery(0, 0, i, at(i)+21e9, rawlog.Null) {
			t.Fatalf("message %d that came late is not the first of two", i)
		}
	}
	j.finish()
	a := s.Accounting
	if a.Received != n-n/2000 || a.Lost != n/2000 || a.Duplicates != n/2000 || a.RecordsRejected != 0 {
		t.Errorf("%+v", a)
	}
}

// The rate is that of the settings only where these have one for all steps.
func TestAskedRate(t *testing.T) {
	for _, c := range []struct {
		settings map[string]string
		want     float64
	}{
		{map[string]string{"command": "run", "rate": "1000", "vary": "", "rate-profile": ""}, 1000},
		{map[string]string{"command": "run", "rate": "1000", "vary": "rate=1,2"}, 0},
		{map[string]string{"command": "run", "rate": "1000", "rate-profile": "0s:1,1s:2"}, 0},
		{map[string]string{"command": "sweep", "rates": "2000,1000"}, 1000},
		{map[string]string{"command": "sweep", "rates": "2000,x"}, 0},
		{map[string]string{"command": "backlog", "rate": "1000"}, 0},
		{map[string]string{"command": "run", "rate": "NaN"}, 0},
		{map[string]string{"command": "run", "rate": "-1"}, 0},
		{map[string]string{"command": "run", "rate": "+Inf"}, 0},
		{nil, 0},
	} {
		if got := askedRate(&rawlog.Manifest{Settings: c.settings}, 0); got != c.want {
			t.Errorf("%v: %v, want %v", c.settings, got, c.want)
		}
	}
}

// A step of a sweep that was killed has the rate that its number names.
func TestAskedRatesOfASweep(t *testing.T) {
	for _, c := range []struct {
		settings map[string]string
		want     []float64
	}{
		{map[string]string{"command": "sweep", "rates": "500,1_000,250.5"}, []float64{250.5, 500, 1000}},
		{map[string]string{"command": "sweep", "rates": "500,250", "vary": "consumers=1,2"}, []float64{250, 500, 250, 500}},
		{map[string]string{"command": "sweep", "rates": "500,250", "vary": "rate=1,2"}, []float64{0, 0}},
		{map[string]string{"command": "sweep", "range-start": "0.1", "range-end": "0.5", "range-step": "0.2"}, []float64{0.1, 0.3, 0.5}},
		{map[string]string{"command": "sweep", "range-start": "10000", "range-end": "29999", "range-step": "10000"}, []float64{10_000, 20_000, 10_000}},
		{map[string]string{"command": "sweep", "range-start": "5", "range-end": "1", "range-step": "1"}, []float64{0}},
		{map[string]string{"command": "sweep", "range-start": "1", "range-end": "1e9", "range-step": "1"}, []float64{0}},
	} {
		for step, want := range c.want {
			if got := askedRate(&rawlog.Manifest{Settings: c.settings}, step); got != want {
				t.Errorf("%v, step %d: %v, want %v", c.settings, step, got, want)
			}
		}
	}
}
