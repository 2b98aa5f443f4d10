package exporter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"queuebench/analysis"
	"queuebench/importer"
	"queuebench/stats"
)

// sample is the digest of the importer's 20 latencies, or of another file.
func sample(t testing.TB, name string) *analysis.Digest {
	t.Helper()
	f, err := os.Open("../importer/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := importer.Read(name, f, importer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func step(t testing.TB, d *analysis.Digest) Step {
	t.Helper()
	return Steps(d, analysis.View{})[0]
}

func written(t testing.TB, format string, s Step) ([]byte, []string) {
	t.Helper()
	f, err := Find(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	notes, err := f.Step(&b, s)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), notes
}

func back(t testing.TB, name string, body []byte) *analysis.Digest {
	t.Helper()
	d, err := importer.Read(name, bytes.NewReader(body), importer.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return d
}

// What is written comes back with the percentiles that it was written from.
func TestWrittenFilesAreReadAgain(t *testing.T) {
	s := step(t, sample(t, "vegeta.csv"))
	for format, c := range map[string]struct {
		within float64 // ms
		p95    float64
	}{"hgrm": {0.001, 390.070}, "omb": {0.001, 390.070}, "pathway-csv": {0, 390}} {
		body, notes := written(t, format, s)
		d := back(t, "10.csv", body)
		p := d.References[0].Points[0]
		for percent, want := range map[string]float64{"50": 300.155, "95": c.p95, "99": 1200} {
			if format == "pathway-csv" {
				want = math.Floor(want/10) * 10
			}
			v, ok := p.Percentiles[percent]
			if got := float64(v.Ns) / 1e6; !ok || v.AtMost || math.Abs(got-want) > c.within {
				t.Errorf("%s: p%s is %+v, want %v ms", format, percent, v, want)
			}
		}
		if format == "omb" {
			if len(d.References) != 1 || p.Rate == 0 || len(notes) != 1 {
				t.Errorf("omb: %+v, notes %v", d.References, notes)
			}
		} else if len(notes) != 0 {
			t.Errorf("%s: notes %v", format, notes)
		}
	}
	body, _ := written(t, "hlog", s)
	again := step(t, back(t, "x", body))
	a, _ := total(s.Kept, analysis.Imported)
	b, _ := total(again.Kept, analysis.Imported)
	if fmt.Sprint(a.Buckets) != fmt.Sprint(b.Buckets) || again.Digest.StartNs != s.Digest.StartNs {
		t.Errorf("the histogram log comes back as %v, it was %v", b.Buckets, a.Buckets)
	}
}

func TestPathwayCSVIsInItsOwnForm(t *testing.T) {
	body, _ := written(t, "pathway-csv", step(t, sample(t, "vegeta.csv")))
	lines := strings.Split(string(body), "\n")
	// A row for each rate//2 = 5 messages, cumulative; the last is the result.
	want := []string{"time_from_start,p50,p75,p85,p95,p99", "0.41,0.23,0.24,0.25,0.25,0.25", "0.91,0.25,0.28,0.29,0.30,0.30", "1.41,0.28,0.32,0.33,0.35,0.35", "1.91,0.30,0.35,0.37,0.39,1.20", "2.00,0.30,0.35,0.37,0.39,1.20"}
	if fmt.Sprint(lines) != fmt.Sprint(want) {
		t.Errorf("%q\nwant\n%q", lines, want)
	}
}

// The distribution is held to the counts: each row's count is that of the values
// up to its own, and reaches its percentile.
func TestDistributionRows(t *testing.T) {
	var h stats.Compact
	for i := range int32(3000) {
		h.Buckets = append(h.Buckets, stats.Bucket{Index: 20_000 + 3*i, Count: 1 + int64(i%7)})
	}
	for _, b := range h.Buckets {
		h.N += b.Count
	}
	h.Min, _ = stats.Bounds(h.Buckets[0].Index)
	_, h.Max = stats.Bounds(h.Buckets[len(h.Buckets)-1].Index)
	iv := analysis.Interval{}
	iv.Latency[analysis.Imported] = h
	body, _ := written(t, "hgrm", Step{Kind: analysis.Imported, Kept: []analysis.Interval{iv}, Summary: &analysis.StepSummary{}})
	rows := 0
	for _, line := range strings.Split(string(body), "\n") {
		var ms, q float64
		var n int64
		if k, _ := fmt.Sscan(line, &ms, &q, &n); k != 3 {
			continue
		}
		rows++
		var seen int64
		for _, b := range h.Buckets {
			if _, high := stats.Bounds(b.Index); float64(high)/1e6 <= ms+0.0005 {
				seen += b.Count
			}
		}
		if seen != n || float64(n) < q*float64(h.N)-1 {
			t.Fatalf("%s: %d values up to it of %d", line, seen, h.N)
		}
	}
	if rows < 40 || rows > 200 {
		t.Errorf("%d rows", rows)
	}
}

func TestWhatAFormatCannotHoldIsSaid(t *testing.T) {
	d := sample(t, "vegeta.csv")
	iv := &d.Steps[0].Intervals[0]
	iv.Infinite[analysis.Imported] = 3
	iv.Latency[analysis.Imported] = stats.Sum(iv.Latency[analysis.Imported], stats.Compact{N: 2, Min: -5, Max: -5, Sum: -10, Buckets: []stats.Bucket{{Index: stats.Index(-5), Count: 2}}})
	for _, format := range []string{"hlog", "hgrm", "omb"} {
		_, notes := written(t, format, step(t, d))
		if text := strings.Join(notes, "\n"); !strings.Contains(text, "3 messages never came") || !strings.Contains(text, "2 negative") {
			t.Errorf("%s: %v", format, notes)
		}
	}
	iv.Infinite[analysis.Imported] = 3000
	if body, notes := written(t, "pathway-csv", step(t, d)); !bytes.Contains(body, []byte(",inf")) || len(notes) != 1 {
		t.Errorf("%s %v", body, notes)
	}
}

func TestTables(t *testing.T) {
	d := sample(t, "vegeta.csv")
	v := analysis.View{Percentiles: []float64{50, 99.9}}
	var text, js, pq bytes.Buffer
	if err := writeCSV(&text, d, v); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 22 || !strings.HasSuffix(lines[0], "p50_ns,p99.9_ns") || !strings.Contains(lines[1], "imported,true,0,2,false,20,0,210000000,345000000,1200000000,300154879,1200000000") {
		t.Errorf("%d lines\n%s", len(lines), text.String())
	}
	if err := writeJSON(&js, d, v); err != nil {
		t.Fatal(err)
	}
	var e Export
	if err := json.Unmarshal(js.Bytes(), &e); err != nil || len(e.Rows) != 21 || e.Summary.Run != d.Manifest.Run {
		t.Errorf("%v, %d rows", err, len(e.Rows))
	}
	if err := writeParquet(&pq, d, v); err != nil {
		t.Fatal(err)
	}
	got, err := parquet.Read[Row](bytes.NewReader(pq.Bytes()), int64(pq.Len()))
	if err != nil || fmt.Sprint(len(got)) != fmt.Sprint(len(e.Rows)) || got[0].N != 20 || *got[0].Percentiles[1].Ns != 1200e6 {
		t.Errorf("%v, %d rows", err, len(got))
	}
}

// No two steps of a run have one file, however close their rates are.
func TestStepsHaveNamesOfTheirOwn(t *testing.T) {
	run := &analysis.Summary{}
	for i, rate := range []float64{1000, 1000.0001, 0.0001, 0.0002, 0, 5, 5} {
		run.Steps = append(run.Steps, analysis.StepSummary{Step: i, Rate: rate})
	}
	run.Steps[6].Step, run.Steps[6].Repeat = 5, 1
	seen := map[string]bool{}
	for i := range run.Steps {
		name := Step{Summary: &run.Steps[i], Run: run}.Name()
		if seen[name] {
			t.Errorf("step %d at %v: %s is that of another", i, run.Steps[i].Rate, name)
		}
		seen[name] = true
	}
}
