package importer

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
)

func columns(t testing.TB, text string) []Column {
	t.Helper()
	c, err := ParseColumns(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// messages is a table of the samples' 20 latencies: rows of all four times.
func messages() string {
	var b strings.Builder
	b.WriteString("id;due;out_ms;ok_us;\"got;it\"\n")
	start := time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)
	for i := range 20 {
		ms := 210 + 10*i
		if i == 19 {
			ms = 1200
		}
		due := start.Add(time.Duration(i) * 100 * time.Millisecond)
		fmt.Fprintf(&b, "%d;%s;%d;%d;%.3f\n", i, due.Format(time.RFC3339Nano), due.UnixMilli()+5, due.UnixMicro()+100_000, float64(due.UnixNano())/1e9+float64(ms)/1e3)
	}
	return b.String()
}

func TestColumnsOfACSV(t *testing.T) {
	opt := Options{Columns: columns(t, "intended=due,sent=out_ms,acked=ok_us,received=got;it:s")}
	d := read(t, "x", messages(), opt)
	s := analysis.Summarize(d, analysis.View{Percentiles: []float64{50, 95, 99}}).Steps[0]
	for kind, want := range map[analysis.Kind][3]int64{
		analysis.EndToEnd: {300, 390, 1200}, analysis.EndToEndFromSend: {295, 385, 1195}, analysis.Publish: {100, 100, 100}, analysis.SendLag: {5, 5, 5},
	} {
		l := s.Latencies[kind.String()]
		for i, percent := range []string{"50", "95", "99"} {
			if got := l.Percentiles[percent].Ns; got < want[i]*999_000 || got > want[i]*1_001_500 {
				t.Errorf("%s: p%s is %d, want %d ms", kind, percent, got, want[i])
			}
		}
	}
	if s.MainKind() != analysis.EndToEnd || s.Rate < 9.9 || s.Rate > 10.1 || s.Accounting.Acked != 20 {
		t.Errorf("%+v", s)
	}
	roundTrip(t, d)
}

func TestColumnsWithoutASchedule(t *testing.T) {
	for name, c := range map[string]struct{ columns, text string }{
		"sent and received": {"sent=a_ms,received=b_ms", "a_ms,b_ms\n1000,1250\n2000,2350\n"},
		"latency only":      {"latency=l:us", "l\n250000\n350000\n"},
		"sent and latency":  {"sent=a:s,latency=l:ms", "a\tl\n1\t250\n2\t350\n"},
		"sent and acked":    {"sent=a_s,acked=k_s", "a_s|k_s\n1|1.25\n2|2.35\n"},
	} {
		d := read(t, "x", c.text, Options{Columns: columns(t, c.columns)})
		s := analysis.Summarize(d, analysis.View{}).Steps[0]
		if l := s.Latencies["imported"]; l.N != 2 || l.MinNs != 250e6 || l.MaxNs != 350e6 || len(s.Latencies) != 1 {
			t.Errorf("%s: %+v", name, s.Latencies)
		}
		if !strings.Contains(strings.Join(d.Manifest.Imports[0].Notes, " "), "coordinated omission") {
			t.Errorf("%s: it does not warn", name)
		}
	}
}

// What did not happen is null: lost, unconfirmed, or received all the same.
func TestColumnsWithNulls(t *testing.T) {
	text := "due_ms,ok_ms,got_ms\n1000,1100,1200\n2000,2100,\n3000,NULL,\n4000,,4100\n5000,5100,4900\n"
	d := read(t, "x", text, Options{Columns: columns(t, "intended=due_ms,acked=ok_ms,received=got_ms")})
	a := d.Steps[0].Accounting
	if a.Scheduled != 5 || a.Acked != 3 || a.Unconfirmed != 2 || a.Lost != 1 || a.ReceivedUnacked != 1 || a.Received != 3 || a.Negative != 1 {
		t.Errorf("%+v", a)
	}
	s := analysis.Summarize(d, analysis.View{Percentiles: []float64{50, 99}}).Steps[0]
	if l := s.Latencies["end_to_end"]; l.N != 4 || l.Infinite != 1 || !l.Percentiles["99"].Beyond || l.MinNs != -100e6 {
		t.Errorf("%+v", l)
	}
	two := read(t, "x", "q,due_ms,got_ms\na,1000,1200\nb,1000,1300\na,2000,2100\n", Options{Columns: columns(t, "series=q,intended=due_ms,received=got_ms")})
	if len(two.Steps) != 2 || two.Steps[0].Settings["series"] != "a" || two.Steps[0].Accounting.Received != 2 {
		t.Errorf("series: %+v", two.Steps)
	}
}

// Deliveries of no second of the step are told, by series where there are several.
func TestDeliveriesOutsideOfTheStep(t *testing.T) {
	days := int64(11 * 24 * 3600)
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"none":          {"a,10,11\na,20,21\n", ""},
		"before":        {"a,10,8\na,20,21\n", "after it: 1,"},
		"far after":     {fmt.Sprintf("a,10,%d\na,20,%d\n", 10+days, 21+days), "after it: 2,"},
		"of one of two": {"a,10,11\nb,20,8\n", "series b: deliveries before the first message, or 10 days after it: 1,"},
	} {
		d := read(t, "x", "q,due,got\n"+c.text, Options{Columns: columns(t, "series=q,intended=due:s,received=got:s")})
		var throughput, received int64
		for _, s := range d.Steps {
			received += s.Accounting.Received
			for _, n := range s.ReceivedPerSecond {
				throughput += n
			}
		}
		notes := strings.Join(d.Manifest.Imports[0].Notes, "\n")
		if received != 2 || (throughput == 2) != (c.want == "") || !strings.Contains(notes, c.want) || strings.Contains(notes, "deliveries before") != (c.want != "") {
			t.Errorf("%s: %d received, %d of them in a second; %s", name, received, throughput, notes)
		}
	}
}

func TestColumnsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "ROLE=NAME",
		"intended":                        "ROLE=NAME",
		"when=x":                          "ROLE=NAME",
		"intended=a":                      "nothing can be measured",
		"received=a":                      "begins at one of",
		"intended=a,received=b,latency=c": "give one of the two",
		"intended=a,intended=b":           "twice",
	} {
		if _, err := ParseColumns(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"a,b\n1,2\n":              "has no unit",
		"a_ms,b_ms\n1,x\n":        "line 2",
		"a_ms,c\n1,2\n":           `no column "b_ms"`,
		"a_ms,b_ms\n1,2\n1,2,3\n": "line 3",
		"a_ms,b_ms\n,2\n":         "a row must have",
		"a_ms,b_ms\n":             "no value",
		"a_ms,b_ms\n1,2\n99999999999,99999999999\n": "days from others",
		"a_ms,b_ms\n1,99999999999999999999\n":       "beyond the range",
		"a_ms,b_ms\n1,9999999999\n":                 "is its unit another one",
	} {
		c := columns(t, "intended=a_ms,received=b_ms")
		if strings.HasPrefix(text, "a,b") {
			c = columns(t, "intended=a,received=b")
		}
		if _, err := Read("file.csv", strings.NewReader(text), Options{Columns: c}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "file.csv") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Memory does not grow with the input: intervals become coarser.
func TestLongInputsStaySmall(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("a_s,b_s\n")
	const n = 100_000
	for i := range n {
		at := (i * 7919) % n // in no order
		fmt.Fprintf(&b, "%d,%d.25\n", at, at)
	}
	d, err := Read("x", &b, Options{Columns: columns(t, "intended=a_s,received=b_s")})
	if err != nil {
		t.Fatal(err)
	}
	s := d.Steps[0]
	if len(s.Intervals) > mostBins || s.Accounting.Received != n || len(s.ReceivedPerSecond) != n {
		t.Errorf("%d intervals, %d received in %d seconds", len(s.Intervals), s.Accounting.Received, len(s.ReceivedPerSecond))
	}
	var sum int64
	for i := range s.Intervals {
		sum += s.Intervals[i].Latency[analysis.EndToEnd].N
	}
	if sum != n {
		t.Errorf("%d values in the intervals", sum)
	}
	roundTrip(t, d)
}
