package importer

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
)

// sample reads a file of testdata under another name, so that only its content
// can tell what it is.
func sample(t *testing.T, name string, opt Options) *analysis.Digest {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Read("33", bytes.NewReader(body), opt)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// ms are milliseconds, as the samples' description has them; 0 is not carried.
type wantSample struct {
	p50, p95, p99, max, mean float64
	n                        int64
	rate                     float64
	within                   float64 // ms
}

// raw are the kinds that percentiles are computed from. The reference is
// nearest-rank: 20 values of 210, 220, … 390 ms and 1200 ms.
var raw = map[string]wantSample{
	"nats-latency.raw": {300, 390, 1200, 1200, 345, 20, 0, 0},
	"warp.tsv":         {300, 390, 1200, 1200, 345, 20, 10, 0},
	"vegeta.csv":       {300, 390, 1200, 1200, 345, 20, 10, 0},
	"vegeta.jsonl":     {300, 390, 1200, 1200, 345, 20, 10, 0},
	"k6.csv":           {300, 390, 1200, 1200, 345, 20, 10, 0},
	"k6.jsonl":         {300, 390, 1200, 1200, 345, 20, 10, 0},
	"sample.hlog":      {300.155, 390.070, 1200.620, 1200.620, 345.001, 20, 10, 0.001},
}

func TestRawSamples(t *testing.T) {
	for name, want := range raw {
		t.Run(name, func(t *testing.T) {
			d := sample(t, name, Options{})
			s := analysis.Summarize(d, analysis.View{Percentiles: []float64{50, 95, 99}})
			x := s.Steps[0]
			if x.WarmupNs != 0 {
				t.Errorf("a warm-up of %d ns was cut by default", x.WarmupNs)
			}
			if len(s.Imports) != 1 || s.Imports[0].Latency == "" || s.Imports[0].Percentiles == "" || s.Imports[0].File != "33" {
				t.Errorf("it does not say what it is: %+v", s.Imports)
			}
			l := x.Latencies[analysis.Imported.String()]
			if l.N != want.n || l.Infinite != 0 || len(x.Latencies) != 1 {
				t.Errorf("n is %d of %v", l.N, x.Latencies)
			}
			tolerance := want.within
			if tolerance == 0 {
				tolerance = 0.001 * want.p50 // of a histogram of 3 digits
			}
			for percent, ms := range map[string]float64{"50": want.p50, "95": want.p95, "99": want.p99} {
				p := l.Percentiles[percent]
				if got := float64(p.Ns) / 1e6; math.Abs(got-ms) > tolerance || p.Beyond {
					t.Errorf("p%s is %v ms, want %v", percent, got, ms)
				}
				if p.Text() != analysis.FormatLatency(int64(ms*1e6)) {
					t.Errorf("p%s is shown as %s", percent, p.Text())
				}
			}
			exact := 0.000001
			if name == "sample.hlog" {
				exact = tolerance
			}
			if got := float64(l.MaxNs) / 1e6; math.Abs(got-want.max) > exact {
				t.Errorf("max is %v ms, want %v", got, want.max)
			}
			if got := float64(l.MeanNs) / 1e6; math.Abs(got-want.mean) > max(exact, 0.2*want.within*1e3) {
				t.Errorf("mean is %v ms, want %v", got, want.mean)
			}
			if want.rate != 0 && math.Abs(x.Rate-want.rate) > 0.5 {
				t.Errorf("rate is %v, want %v", x.Rate, want.rate)
			}
			if name == "nats-latency.raw" && (x.Rate != 0 || s.StartedNs != 0) {
				t.Errorf("a rate of %v from values without a time", x.Rate)
			}
			roundTrip(t, d)
		})
	}
}

// roundTrip holds an imported digest to the digest's own format.
func roundTrip(t *testing.T, d *analysis.Digest) {
	t.Helper()
	var b, again bytes.Buffer
	if err := analysis.WriteDigest(&b, d); err != nil {
		t.Fatal(err)
	}
	text := bytes.Clone(b.Bytes())
	back, err := Read("digest", &b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := analysis.WriteDigest(&again, back); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, again.Bytes()) {
		t.Error("its digest comes back as another one")
	}
}

// summaries are the kinds whose percentiles are carried.
var summaries = map[string]struct {
	name string // of the reference
	want wantSample
}{
	"kafka-producer-perf.txt": {"Kafka producer", wantSample{310, 1200, 1200, 1200, 345, 20, 2, 0}},
	"kafka-e2e-latency.txt":   {"Kafka end-to-end", wantSample{p50: 310, p99: 1200, mean: 345}},
	"omb-result.json":         {"OMB end-to-end", wantSample{300.001, 390.001, 1200.007, 1200.007, 345.001, 0, 1, 0}},
	"sample.hgrm":             {"HdrHistogram", wantSample{300.155, 390.070, 1200.620, 1200.620, 345.001, 20, 0, 0}},
	"pathway-seed.csv":        {"Pathway benchmark", wantSample{p50: 300, p95: 390, p99: 1200, rate: 33}},
	"nats-bench.csv":          {"nats bench", wantSample{p50: 300, p99: 1200, max: 1200, mean: 345, n: 20, rate: 2}},
	"wrk2.txt":                {"wrk2", wantSample{300.287, 390.143, 1200.127, 1200, 345, 20, 10, 0}},
	"perftest-multi.json":     {"PerfTest consumer", wantSample{mean: 345, rate: 10}},
	"kafka-consumer-perf.txt": {"Kafka consumer", wantSample{n: 20, rate: 4}},
}

func TestSummarySamples(t *testing.T) {
	for name, c := range summaries {
		t.Run(name, func(t *testing.T) {
			d := sample(t, name, Options{})
			s := analysis.Summarize(d, analysis.View{})
			if len(s.Steps) != 0 || len(s.References) == 0 {
				t.Fatalf("%d steps and %d references", len(s.Steps), len(s.References))
			}
			r := s.References[0]
			if r.Name != c.name || r.PercentileDefinition == "" || r.Latency == "" || len(r.Points) == 0 {
				t.Fatalf("%+v", r)
			}
			p := r.Points[0]
			check := func(what string, got *int64, ms float64) {
				if (got != nil) != (ms != 0) {
					t.Errorf("%s is carried: %v", what, got != nil)
				} else if got != nil && *got != int64(math.Round(ms*1e6)) {
					t.Errorf("%s is %d ns, want %v ms", what, *got, ms)
				}
			}
			percentile := func(percent string) *int64 {
				v, ok := p.Percentiles[percent]
				if !ok || v.AtMost {
					return nil
				}
				return &v.Ns
			}
			w := c.want
			check("p50", percentile("50"), w.p50)
			check("p95", percentile("95"), w.p95)
			check("p99", percentile("99"), w.p99)
			check("max", p.MaxNs, w.max)
			check("mean", p.MeanNs, w.mean)
			if p.N != w.n || p.Rate != w.rate {
				t.Errorf("n is %d and the rate %v, want %d and %v", p.N, p.Rate, w.n, w.rate)
			}
			roundTrip(t, d)
			var text strings.Builder
			if err := analysis.WriteText(&text, s); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"never merged", r.PercentileDefinition, r.Latency} {
				if !strings.Contains(text.String(), want) {
					t.Errorf("the text does not say %q:\n%s", want, text.String())
				}
			}
		})
	}
}

func TestPerfTestCSVHasARowPerSecond(t *testing.T) {
	d := sample(t, "perftest.csv", Options{})
	if len(d.References) != 2 {
		t.Fatalf("%d references", len(d.References))
	}
	for k, want := range []struct {
		name     string
		p50, p99 []int64
	}{
		{"PerfTest consumer", []int64{250, 350}, []int64{300, 1200}},
		{"PerfTest confirm", []int64{150, 250}, []int64{200, 1100}},
	} {
		r := d.References[k]
		if r.Name != want.name || len(r.Points) != 0 || len(r.Timeline) != 2 {
			t.Fatalf("%+v", r)
		}
		for i, p := range r.Timeline {
			if p.Percentiles["50"].Ns != want.p50[i]*1e6 || p.Percentiles["99"].Ns != want.p99[i]*1e6 || *p.AtNs != int64(i+1)*1e9 || p.Rate != 10 {
				t.Errorf("row %d: %+v", i, p)
			}
		}
	}
	roundTrip(t, d)
}

func TestEverySampleIsHere(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := filepath.Base(f)
		if _, isRaw := raw[name]; isRaw || name == "perftest.csv" || name == "fuzz" {
			continue
		}
		if _, ok := summaries[name]; !ok {
			t.Errorf("%s has no test", name)
		}
	}
}

// The same content is the same in any wrapping.
func TestCompressedAndCutFiles(t *testing.T) {
	for name := range raw {
		body, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		want := sample(t, name, Options{})
		for how, changed := range map[string][]byte{
			"gzip":                gzipped(t, body),
			"zstd":                zstded(t, body),
			"a byte order mark":   append([]byte("\xef\xbb\xbf"), body...),
			"CRLF":                bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n")),
			"no newline at end":   bytes.TrimRight(body, "\n"),
			"blank lines between": bytes.ReplaceAll(body, []byte("\n"), []byte("\n\n")),
		} {
			got, err := Read("33", bytes.NewReader(changed), Options{})
			if err != nil {
				t.Errorf("%s, %s: %v", name, how, err)
				continue
			}
			if !slices.EqualFunc(got.Steps, want.Steps, func(a, b analysis.StepDigest) bool { return a.Accounting == b.Accounting && a.Duration == b.Duration }) {
				t.Errorf("%s, %s: other steps", name, how)
			}
		}
	}
}

func TestWarmupOfImportedData(t *testing.T) {
	second := time.Second
	x := analysis.Summarize(sample(t, "vegeta.csv", Options{}), analysis.View{Warmup: &second, Percentiles: []float64{50}}).Steps[0]
	if l := x.Latencies["imported"]; l.N != 10 || l.MinNs != 310e6 || x.WarmupNs != 1e9 {
		t.Errorf("%+v", x)
	}
}
