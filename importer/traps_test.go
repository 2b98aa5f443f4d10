package importer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
)

func read(t *testing.T, name, text string, opt Options) *analysis.Digest {
	t.Helper()
	d, err := Read(name, strings.NewReader(text), opt)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The publish delay is in µs, all else in ms.
func TestOMBDelaysAreMicroseconds(t *testing.T) {
	d := sample(t, "omb-result.json", Options{})
	var names []string
	for _, r := range d.References {
		names = append(names, r.Name)
		want := map[string]int64{"OMB end-to-end": 300_001_000, "OMB publish": 200_001_000, "OMB publish delay": 300_000}[r.Name]
		if got := r.Points[0].Percentiles["50"].Ns; got != want {
			t.Errorf("%s: p50 is %d ns, want %d", r.Name, got, want)
		}
		if len(r.Timeline) != 2 || r.Timeline[0].AtNs != nil || !strings.Contains(strings.Join(r.Notes, " "), "10 s) is not in the file") {
			t.Errorf("%s: its windows: %+v, %v", r.Name, r.Timeline, r.Notes)
		}
	}
	if len(names) != 3 {
		t.Errorf("%v", names)
	}
	if q := d.References[0].Points[0].Percentiles["35"].Ns; q != 270_001_000 {
		t.Errorf("a quantile of its own is %d", q)
	}
}

func TestNatsBenchCountsAcknowledgements(t *testing.T) {
	d := sample(t, "nats-bench.csv", Options{})
	r := d.References[0]
	if p := r.Points[0]; p.N != 20 || p.SDNs != nil {
		t.Errorf("n %d, deviation %v", p.N, p.SDNs)
	}
	// A consumer's row has as many messages as its rate says.
	text := "#RunID,ClientID,MsgCount,MsgsPerSec,DurationSecs,P50LatencyMicroSecs\nR,C0,20,2,6.9,300000\n"
	if p := read(t, "x", text, Options{}).References[0].Points[0]; p.N != 20 {
		t.Errorf("n %d of a client that counts once", p.N)
	}
}

// A stamp is of the end of a request, in one of seven shapes.
func TestK6Stamps(t *testing.T) {
	for _, shape := range []string{"1768478400", "1768478400000", "1768478400000000", "1768478400000000000", "1768478400.0", "1.7684784e+09", "2026-01-15T12:00:00Z", "2026-01-15T13:00:00+01:00"} {
		d := read(t, "x", "metric_name,timestamp,metric_value\nlag,"+shape+",250\n", Options{})
		s := d.Steps[0]
		// It began 250 ms before noon.
		if got := time.Unix(0, s.StartNs).UTC(); got.After(time.Date(2026, 1, 15, 11, 59, 59, 750e6, time.UTC)) || got.Before(time.Date(2026, 1, 15, 11, 59, 58, 0, time.UTC)) {
			t.Errorf("%s: began at %s", shape, got)
		}
		if l := s.Intervals[0].Latency[analysis.Imported]; l.Max != 250e6 {
			t.Errorf("%s: %d ns", shape, l.Max)
		}
	}
	// Of whole seconds no finer interval is made.
	if d := sample(t, "k6.csv", Options{}); d.Steps[0].Interval < time.Second || !strings.Contains(strings.Join(d.Manifest.Imports[0].Notes, " "), "whole seconds") {
		t.Errorf("intervals of %s from stamps of whole seconds; %v", d.Steps[0].Interval, d.Manifest.Imports[0].Notes)
	}
	if d := sample(t, "k6.jsonl", Options{}); d.Steps[0].Interval >= time.Second {
		t.Errorf("intervals of %s from stamps of ns", d.Steps[0].Interval)
	}
}

func TestK6Metrics(t *testing.T) {
	const header = "metric_name,timestamp,metric_value,expected_response\n"
	rows := func(names ...string) string {
		var b strings.Builder
		for i, n := range names {
			fmt.Fprintf(&b, "%s,%d,%d,%v\n", n, 1768478400+i, 100+i, i != 2)
		}
		return header + b.String()
	}
	d := read(t, "x", rows("http_reqs", "http_req_duration", "http_req_duration", "http_req_waiting", "iteration_duration"), Options{})
	if len(d.Steps) != 1 || d.Steps[0].Accounting.Acked != 1 || d.Steps[0].Accounting.Failed != 1 {
		t.Errorf("the duration of requests: %+v", d.Steps)
	}
	d = read(t, "x", rows("http_reqs", "http_req_duration", "queue_lag"), Options{})
	if len(d.Steps) != 1 || d.Steps[0].Intervals[0].Latency[analysis.Imported].Max != 102e6 || !strings.Contains(strings.Join(d.Manifest.Imports[0].Notes, ""), "http_req_duration") {
		t.Errorf("the script's own: %+v", d)
	}
	if _, err := Read("x", strings.NewReader(rows("lag", "depth")), Options{}); err == nil || !strings.Contains(err.Error(), "--metric") || !strings.Contains(err.Error(), "depth, lag") {
		t.Errorf("two of the script's own: %v", err)
	}
	if d = read(t, "x", rows("lag", "depth"), Options{Metrics: []string{"lag", "depth"}}); len(d.Steps) != 2 || d.Steps[0].Settings["metric"] != "depth" {
		t.Errorf("two that were asked for: %+v", d.Steps)
	}
}

const hist = "HISTFAAAADt42pJpmSzMwMAgwwABzFCakYGBgfeHewSD/QeIQPNKJqapjCA0nRHK6GRk8mbyZPJkAgQAAP//JVsJ0w=="

// A log carries no unit and may lack its times and its last newline.
func TestHLogTimes(t *testing.T) {
	const line = ",1.0,300.15," + hist
	for name, c := range map[string]struct {
		text  string
		start int64
	}{
		"neither":                           {"#[Histogram log format version 1.3]\n5.0" + line, 5e9},
		"neither, since the epoch":          {"1768478405.0" + line, 1768478405e9},
		"start only":                        {"#[StartTime: 1768478400 (seconds since epoch), x]\n5.0" + line, 1768478405e9},
		"start, and stamps since the epoch": {"#[StartTime: 1768478400.000 (seconds since epoch)]\n1768478405.0" + line + "\n", 1768478405e9},
		"base":                              {"#[BaseTime: 1768478000 (seconds since epoch)]\n#[StartTime: 1768478400 (seconds since epoch)]\n5.0" + line + "\n", 1768478005e9},
	} {
		s := read(t, "x", c.text, Options{}).Steps[0]
		if s.StartNs != c.start || s.Duration != time.Second || s.Accounting.Received != 10 {
			t.Errorf("%s: %d ns, %s, %d values", name, s.StartNs, s.Duration, s.Accounting.Received)
		}
	}
}

func TestHLogUnitsGapsAndTags(t *testing.T) {
	d := read(t, "x", "0,1,0,"+hist+"\n1,1,0,"+hist+"\n1,1,0,"+hist+"\n5,0.5,0,"+hist+"\n", Options{Unit: time.Microsecond})
	s := d.Steps[0]
	if len(s.Intervals) != 4 || s.Intervals[2].Scheduled != 0 || s.Intervals[2].End != 5*time.Second || s.Duration != 5500*time.Millisecond || s.Intervals[1].Scheduled != 20 {
		t.Errorf("%+v", s.Intervals)
	}
	// 300 ms in ns is 300 s in µs.
	if p := analysis.Summarize(d, analysis.View{Percentiles: []float64{50}}).Steps[0].Latencies["imported"]; math.Abs(float64(p.Percentiles["50"].Ns)/1e9-250) > 0.7 {
		t.Errorf("p50 is %d", p.Percentiles["50"].Ns)
	}
	if _, err := Read("x", strings.NewReader("0,1,0,"+hist), Options{Unit: time.Second}); err == nil || !strings.Contains(err.Error(), "line 1") || !strings.Contains(err.Error(), "unit") {
		t.Errorf("300 million s: %v", err)
	}
	two := sample(t, "sample.hlog", Options{})
	if len(two.Steps) != 2 || two.Steps[1].Settings["tag"] != "ack" || two.Steps[0].Accounting.Received != 20 {
		t.Errorf("tags: %+v", two.Manifest.Steps)
	}
}

func TestPerfTestUnits(t *testing.T) {
	for header, want := range map[string]int64{"µs": 1e3, "ms": 1e6, "?s": 1e3, "\ufffds": 1e3, "Âµs": 1e3, "us": 1e3, "μs": 1e3} {
		text := "id,time (s),received (msg/s),median consumer latency (" + header + ")\nx,1.0,5,7\n"
		if p := read(t, "x", text, Options{}).References[0].Timeline[0]; p.Percentiles["50"].Ns != 7*want {
			t.Errorf("(%s): %d ns", header, p.Percentiles["50"].Ns)
		}
	}
	if _, err := Read("x", strings.NewReader("id,time (s),median consumer latency (fortnights)\n"), Options{}); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("another unit: %v", err)
	}
	if p := sample(t, "perftest-multi.json", Options{Unit: time.Millisecond}).References[0].Points[0]; *p.MeanNs != 345e9 {
		t.Errorf("in ms: %d", *p.MeanNs)
	}
}

func TestWrkUnits(t *testing.T) {
	d := read(t, "x", "  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%  850.00us\n 75.000%    9.50ms\n 99.000%    1.20s \n100.000%    2.00m \n"+
		"  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))\n 50.000%  1.00ms\nRequests/sec:  123.5\n", Options{})
	p := d.References[0].Points[0]
	for percent, ns := range map[string]int64{"50": 850e3, "75": 9.5e6, "99": 1.2e9, "100": 120e9} {
		if p.Percentiles[percent].Ns != ns {
			t.Errorf("p%s: %d", percent, p.Percentiles[percent].Ns)
		}
	}
	if len(d.References) != 2 || d.References[0].Name == d.References[1].Name || p.Rate != 123.5 {
		t.Errorf("%+v", d.References)
	}
}

func TestKafkaProducerLines(t *testing.T) {
	const old = "20 records sent, 2.000000 records/sec (0.00 MB/sec), 345.00 ms avg latency, 1200.00 ms max latency, 310 ms 50th, 1200 ms 95th, 1200 ms 99th, 1200 ms 99.9th.\n"
	local := strings.NewReplacer("2.000000", "2,000000", "0.00 MB", "0,00 MB", "345.00", "345,00", "1200.00", "1200,00", "310 ms", "310,00 ms", "99.9th", "99,9th").Replace(old)
	for name, text := range map[string]string{"one version": old, "a locale": local, "a log before it": "WARN something\n" + old} {
		p := read(t, "x", text, Options{}).References[0].Points[0]
		if p.Percentiles["50"].Ns != 310e6 || p.Percentiles["99.9"].Ns != 1200e6 || *p.MeanNs != 345e6 || *p.MaxNs != 1200e6 || p.N != 20 || p.Rate != 2 {
			t.Errorf("%s: %+v", name, p)
		}
	}
	// Of two totals the steady one counts, wherever it stands.
	warm := strings.Replace(old, "310 ms", "999 ms", 1)
	steady := strings.Replace(old, "20 records sent", "15 steady state records sent", 1)
	for name, c := range map[string]struct {
		text string
		n    int64
	}{"the last of two": {warm + old, 20}, "the one that says so": {warm + steady, 15}, "before the other": {steady + warm, 15}} {
		r := read(t, "x", c.text, Options{}).References[0]
		if p := r.Points[0]; len(r.Points) != 1 || p.Percentiles["50"].Ns != 310e6 || p.N != c.n || !strings.Contains(strings.Join(r.Notes, " "), "2 totals") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestKafkaConsumerWithADecimalComma(t *testing.T) {
	text := "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec\n" +
		"2026-01-15 12:00:00:000, 2026-01-15 12:00:05:000, 0,0195, 0,0039, 20, 4,0000, 3000, 2000, 0,0098, 10,0000\n"
	p := read(t, "x", text, Options{}).References[0].Points
	if len(p) != 2 || p[0].Rate != 4 || p[1].Rate != 10 || p[0].N != 20 {
		t.Errorf("%+v", p)
	}
}

func TestHGRMLooksUpWhatItsCountsSettle(t *testing.T) {
	p := sample(t, "sample.hgrm", Options{}).References[0].Points[0]
	for percent, want := range map[string]analysis.ReferenceValue{
		"50": {Ns: 300_155_000}, "95": {Ns: 390_070_000}, "99": {Ns: 1_200_620_000},
		"93.75": {Ns: 390_070_000}, "85": {Ns: 380_109_000, AtMost: true}, "90": {Ns: 380_109_000},
	} {
		if got := p.Percentiles[percent]; got != want {
			t.Errorf("p%s is %+v, want %+v", percent, got, want)
		}
	}
	if text := (analysis.ReferenceValue{Ns: 5e6, AtMost: true}).Text(); text != "≤ 5.00 ms" {
		t.Errorf("a bound is shown as %s", text)
	}
}

// The rate of the original's CSV is the name of its file; several files make one
// line over the rates.
func TestPathwayFilesOfASweep(t *testing.T) {
	text := "time_from_start,p50,p75,p85,p95,p99\n32.10,0.25,0.28,0.29,0.30,0.30\n33.10,0.30,0.35,0.37,0.39,1.20\n"
	a := read(t, "benchmark-results/10000.csv", text, Options{})
	b := read(t, `results\70000.csv`, text, Options{})
	d, err := Combine(b, a)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.References) != 1 || len(d.References[0].Points) != 2 || d.References[0].Points[0].Rate != 70000 || d.References[0].Points[1].Rate != 10000 {
		t.Errorf("%+v", d.References)
	}
}

func TestCombineKeepsStepsApart(t *testing.T) {
	d, err := Combine(sample(t, "vegeta.csv", Options{}), sample(t, "warp.tsv", Options{}), sample(t, "omb-result.json", Options{}))
	if err != nil {
		t.Fatal(err)
	}
	s := analysis.Summarize(d, analysis.View{})
	if len(s.Steps) != 2 || s.Steps[0].Accounting.Received != 20 || s.Steps[1].Accounting.Received != 20 || len(s.References) != 3 || len(s.Imports) != 2 {
		t.Errorf("%d steps, %d references, %d imports", len(s.Steps), len(s.References), len(s.Imports))
	}
	roundTrip(t, d)
	run := &analysis.Digest{}
	run.Manifest.Run = "a-run"
	if _, err := Combine(d, run); err == nil || !strings.Contains(err.Error(), "a-run") {
		t.Errorf("with a run: %v", err)
	}
}

func TestWarpOperationsStayApart(t *testing.T) {
	head := "idx\tthread\top\terror\tstart\tduration_ns\n"
	d := read(t, "x.csv", head+"0\t0\tPUT\t\t2026-01-15T12:00:00Z\t5000000\n1\t0\tGET\t\t2026-01-15T12:00:00.5Z\t1000000\n2\t0\tGET\tbroken, too\t2026-01-15T12:00:01Z\t9000000\n", Options{})
	if len(d.Steps) != 2 || d.Steps[0].Settings["op"] != "GET" || d.Steps[0].Accounting.Failed != 1 || d.Steps[0].Accounting.Received != 1 {
		t.Errorf("%+v", d.Steps)
	}
}

func TestPublishedSeries(t *testing.T) {
	rs, err := ReadPublished("pathway")
	if err != nil {
		t.Fatal(err)
	}
	if len(rs) != 2 || len(rs[0].Points) != 4 || len(rs[1].Points) != 3 || rs[0].Points[3].Rate != 250_000 || rs[1].Points[2].Percentiles["99"].Ns != 41_320_000_000 {
		t.Errorf("%+v", rs)
	}
	if !slices.Equal(Published(), []string{"pathway"}) || !IsPublished("pathway") || IsPublished("../published/pathway") || IsPublished("") {
		t.Error("the names of what is built in")
	}
	if _, err := ReadPublished("nothing"); err == nil {
		t.Error("a name that is not built in")
	}
}
