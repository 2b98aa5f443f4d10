package importer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"queuebench/analysis"
)

func TestRefusalsNameFileLineAndReason(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":               {"", []string{"it is empty"}},
		"prose":                 {"Once upon a time\n", []string{"of no format", "Once upon", "--columns"}},
		"Parquet":               {"PAR1\x00\x00", []string{"this is Parquet", "--columns"}},
		"vegeta, cut":           {"1768478400000000000,200,210000000,1024,0,,,demo,0,POST,http://x,\n1768478400000000000,200", []string{"line 2", "2 columns"}},
		"vegeta, a word":        {"1768478400000000000,200,210000000,1024,0,,,demo,0,POST,http://x,\n1768478400000000000,200,soon,1024,0,,,demo,0,POST,http://x,\n", []string{"line 2", "column 3"}},
		"vegeta JSON":           {`{"attack":"a","timestamp":"2026-01-15T12:00:00Z","latency":1}` + "\n" + `{"attack":"a","timestamp":"noon","latency":1}`, []string{"line 2", `"noon" is no time`}},
		"k6":                    {"metric_name,timestamp,metric_value\nx,1768478400,much\n", []string{"line 2", `"much"`}},
		"k6 JSON":               {`{"metric":"m","type":"Point","data":{"time":"2026-01-15T12:00:00Z","value":1}}` + "\n{", []string{"line 2"}},
		"warp":                  {"op\terror\tstart\tduration_ns\nPUT\t\t2026-01-15T12:00:00Z\t-\n", []string{"line 2"}},
		"histogram log":         {"#[Histogram log format version 1.3]\n0,1,2,HISTxxxx\n", []string{"line 2", "histogram"}},
		"a log of another time": {"#[Histogram log format version 1.3]\nx,1,2," + hist + "\n", []string{"line 2", "start"}},
		"distribution":          {" Value Percentile TotalCount 1/(1-Percentile)\n\n 1.0 0.5 10 2.0\n 2.0 1.5 10 2.0\n", []string{"line 4", "quantile"}},
		"OMB":                   {"{\"driver\":\"k\",\n\"publishRate\":[1],\n\"aggregatedEndToEndLatency50pct\":\"x\"}", []string{"field aggregatedEndToEndLatency50pct"}},
		"OMB, cut":              {"{\"driver\":\"k\",\n\"publishRate\":[1],\n\"aggregated", []string{"line 3"}},
		"PerfTest":              {"id,time (s),median consumer latency (ms)\nx,1,y\n", []string{"line 2", "median consumer latency"}},
		"nats bench":            {"#RunID,ClientID,MsgCount\nR,C,many\n", []string{"line 2", "MsgCount"}},
		"Pathway":               {"time_from_start,p50,p75,p85,p95,p99\n1,2,3,4,5\n", []string{"line 2", "5 columns"}},
		"series":                {"series,rate,p99_ms\nx,10,1\nx,ten,1\n", []string{"line 3", "messages per second"}},
		"series without unit":   {"series,rate,p99\nx,10,1\n", []string{"line 2", "p99_ms"}},
		"values":                {"1\n2\n3\n" + strings.Repeat("4\n", 20) + "x\n", []string{"line 24", `"x"`}},
		"a digest, cut":         {"#[Histogram log format version 1.3]\n#[queuebench.digest/1 manifest {}]\n", []string{"cut short"}},
	} {
		_, err := Read("some/file", strings.NewReader(c.text), Options{})
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range append(c.want, "some/file") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nwithout %q", name, err, want)
			}
		}
	}
}

// endless gives the same text for ever.
type endless struct {
	head, text string
	at, given  int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.head)
	e.head = e.head[n:]
	for n < len(p) {
		k := copy(p[n:], e.text[e.at:])
		e.at = (e.at + k) % len(e.text)
		n += k
	}
	e.given += n
	return n, nil
}

// peak is the memory that f takes at most, as far as its allocations tell: all
// of them together, what was freed between included.
func peak(t *testing.T, f func()) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// An input without an end of line, or of histograms that inflate to far more
// than they take, ends in an error or in little memory.
func TestEndlessInputsEnd(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"a number without end":   &endless{text: "1"},
		"a quoted field":         &endless{head: "metric_name,timestamp,metric_value\nx,1,\"", text: "x\n"},
		"JSON as a whole":        &endless{head: `{"driver":"k","publishRate":[1`, text: ",1"},
		"rows of a distribution": &endless{head: " Value Percentile TotalCount 1/(1-Percentile)\n", text: "1.0 0.5 1 2.0\n"},
		"windows of Kafka":       &endless{text: "10 records sent, 2.0 records/sec (0.00 MB/sec), 255.0 ms avg latency, 300.0 ms max latency.\n"},
		"metrics":                &counting{head: "metric_name,timestamp,metric_value\n", row: "m%d,1,1\n"},
		"tags":                   &counting{row: "Tag=t%d,0,1,0," + hist + "\n"},
		"zeros in gzip":          bytes.NewReader(gzipped(t, make([]byte, 40<<20))),
		"zeros in zstd":          bytes.NewReader(zstded(t, make([]byte, 40<<20))),
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			got := peak(t, func() { _, err = Read("file", r, Options{Metrics: nil}) })
			if err == nil || !strings.Contains(err.Error(), "file") {
				t.Errorf("%v", err)
			}
			// Without the race detector 700 MB at most: that empties pools at random.
			if got > 2000<<20 {
				t.Errorf("%d MB were allocated", got>>20)
			}
		})
	}
}

// counting gives rows that differ by a number.
type counting struct {
	head, row string
	n         int
	left      []byte
}

func (c *counting) Read(p []byte) (int, error) {
	if len(c.left) == 0 {
		c.left = []byte(c.head + fmt.Sprintf(c.row, c.n))
		c.head, c.n = "", c.n+1
	}
	n := copy(p, c.left)
	c.left = c.left[n:]
	return n, nil
}

// seeds are the samples, and what lies at the edges of their formats.
func seeds(f *testing.F, patterns ...string) {
	for _, p := range patterns {
		files, err := filepath.Glob(filepath.Join("testdata", p))
		if err != nil || len(files) == 0 {
			f.Fatalf("no sample %s: %v", p, err)
		}
		for _, name := range files {
			body, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(body)
		}
	}
}

// fuzz reads input of one kind. What is read comes back from its digest, and its
// summary can be written.
func fuzz(f *testing.F, opt Options) {
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Read("fuzz", bytes.NewReader(data), opt)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz: ") {
				t.Errorf("an error that does not name its file: %v", err)
			}
			return
		}
		var b bytes.Buffer
		if err := analysis.WriteDigest(&b, d); err != nil {
			if errors.Is(err, analysis.ErrNotDigest) {
				t.Fatal(err)
			}
			t.Fatalf("a digest that cannot be written: %v", err)
		}
		back, err := analysis.ReadDigest(&b)
		if err != nil {
			t.Fatalf("a digest that cannot be read: %v", err)
		}
		if err := analysis.WriteText(io.Discard, analysis.Summarize(back, analysis.View{})); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzAny(f *testing.F)    { seeds(f, "*.*"); fuzz(f, Options{}) }
func FuzzVegeta(f *testing.F) { seeds(f, "vegeta.*"); fuzz(f, Options{}) }
func FuzzK6(f *testing.F)     { seeds(f, "k6.*"); fuzz(f, Options{}) }
func FuzzWarp(f *testing.F)   { seeds(f, "warp.tsv"); fuzz(f, Options{}) }
func FuzzNats(f *testing.F)   { seeds(f, "nats-*"); fuzz(f, Options{}) }
func FuzzHLog(f *testing.F)   { seeds(f, "sample.hlog"); fuzz(f, Options{Unit: 1000}) }
func FuzzHGRM(f *testing.F)   { seeds(f, "sample.hgrm", "wrk2.txt"); fuzz(f, Options{}) }
func FuzzKafka(f *testing.F)  { seeds(f, "kafka-*"); fuzz(f, Options{}) }
func FuzzOMB(f *testing.F)    { seeds(f, "omb-result.json"); fuzz(f, Options{}) }
func FuzzPerfTest(f *testing.F) {
	seeds(f, "perftest*")
	fuzz(f, Options{})
}
func FuzzPathway(f *testing.F) {
	seeds(f, "pathway-seed.csv", "../published/*.csv")
	fuzz(f, Options{})
}
func FuzzColumns(f *testing.F) {
	f.Add([]byte(messages()))
	f.Add([]byte("due,got;it,out_ms,ok_us\n2026-01-15T12:00:00Z,1768478400.25,,\n"))
	fuzz(f, Options{Columns: []Column{{Intended, "due", 0}, {Sent, "out_ms", 1e6}, {Acked, "ok_us", 1e3}, {Received, "got;it", 1e9}}})
}
