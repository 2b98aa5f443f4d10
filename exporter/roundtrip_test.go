package exporter

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"queuebench/analysis"
	"queuebench/importer"
	"queuebench/rawlog"
	"queuebench/stats"
)

// random is the digest of a run that never ran: intervals of any number of
// messages, latencies over many magnitudes, and messages that never came where
// losses is true.
func random(t *testing.T, r *rand.Rand, losses bool) *analysis.Digest {
	t.Helper()
	const interval = 500 * time.Millisecond
	rate := float64(10 + r.IntN(500))
	s := analysis.StepDigest{Rate: rate, Complete: true, StartNs: 1_700_000_000e9, Duration: 20 * time.Second, Interval: interval, Settings: map[string]string{}}
	level := math.Exp(r.Float64()*12) * 1e4 // from 10 µs to 1.6 s
	for at := time.Duration(0); at < s.Duration; at += interval {
		iv := analysis.Interval{Start: at, End: at + interval}
		var end, publish, lag stats.Counter
		for range 1 + r.IntN(int(rate)) {
			v := int64(level * math.Exp(r.NormFloat64()))
			for _, x := range []struct {
				c  *stats.Counter
				ns int64
			}{{&end, v}, {&publish, v / 2}, {&lag, r.Int64N(1e6)}} {
				if err := x.c.Record(x.ns); err != nil {
					t.Fatal(err)
				}
			}
			iv.Scheduled++
			s.Accounting.Acked++
		}
		iv.Latency[analysis.EndToEnd], iv.Latency[analysis.Publish], iv.Latency[analysis.SendLag] = end.Take().Coarse(), publish.Take().Coarse(), lag.Take().Coarse()
		iv.OwnLag = iv.Latency[analysis.SendLag]
		if losses && r.IntN(4) == 0 {
			iv.Infinite[analysis.EndToEnd] = 1 + r.Int64N(20)
		}
		s.Intervals = append(s.Intervals, iv)
	}
	return &analysis.Digest{Steps: []analysis.StepDigest{s}, Manifest: rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: fmt.Sprintf("run <%d>, \"x\"", r.IntN(100)), Complete: true, StartedNs: 1_700_000_000e9}}
}

// near holds two latencies in ns to a relative error and a step of a format.
func near(a, b, share, step float64) bool { return math.Abs(a-b) <= share*math.Abs(b)+step }

// What each format per step holds of random runs comes back, to within what the
// format says of itself: the latency that it is of, and its percentiles.
func TestRandomStepsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 23))
	for range 12 {
		d := random(t, r, false)
		s := step(t, d)
		h, _ := total(s.Kept, s.Kind)
		want := func(q float64) float64 { ns, _ := h.Quantile(q, 0); return float64(ns) }

		body, _ := written(t, "hlog", s)
		again := step(t, back(t, "x.hlog", body))
		if b, _ := total(again.Kept, analysis.Imported); fmt.Sprint(b.Buckets) != fmt.Sprint(h.Buckets) {
			t.Errorf("hlog: %d values in %d buckets come back, %d in %d were written", b.N, len(b.Buckets), h.N, len(h.Buckets))
		}

		// A point of each: the share that its own rows and digits may be off by.
		for format, c := range map[string]struct {
			quantiles   []float64
			share, step float64
		}{
			"hgrm":        {[]float64{0.5, 0.75, 0.9, 0.95, 0.99}, 0.004, 1000},
			"omb":         {[]float64{0.5, 0.75, 0.95, 0.99, 0.999}, 0, 1000},
			"pathway-csv": {[]float64{0.5, 0.75, 0.85, 0.95, 0.99}, 0, 10e6},
		} {
			body, _ := written(t, format, s)
			got := back(t, strconv.Itoa(int(s.Summary.Rate))+".csv", body)
			points := got.References[0].Points
			p := points[len(points)-1]
			if format == "pathway-csv" { // its last row is the overall result
				for _, x := range points {
					if x.Rate == s.Summary.Rate {
						p = x
					}
				}
			}
			for _, q := range c.quantiles {
				v, ok := p.Percentiles[analysis.FormatPercent(math.Round(q*1000)/10)]
				if !ok {
					t.Errorf("%s: no p%g of %+v", format, q*100, p)
					continue
				}
				// A distribution has a row for a few of the ranks: between two of them.
				low, high := want(max(0, q-0.2*(1-q))), want(min(1, q+0.2*(1-q)))
				if format != "hgrm" {
					low, high = want(q), want(q)
				}
				if g := float64(v.Ns); g < low-c.share*low-c.step || g > high+c.share*high+c.step {
					t.Errorf("%s: p%g is %g ns, written from %g", format, q*100, g, want(q))
				}
			}
		}
	}
}

// The tables of random runs, as CSV, JSON and Parquet, hold the same rows, those
// of losses too.
func TestRandomTablesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 24))
	for i := range 8 {
		d := random(t, r, i%2 == 1)
		v := analysis.View{Percentiles: []float64{50, 99, 99.9}}
		want := rows(d, v)
		var text, js, pq bytes.Buffer
		for _, err := range []error{writeCSV(&text, d, v), writeJSON(&js, d, v), writeParquet(&pq, d, v)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		asJSON := func(rows []Row) string {
			b, err := json.Marshal(rows)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		var e Export
		if err := json.Unmarshal(js.Bytes(), &e); err != nil || asJSON(e.Rows) != asJSON(want) {
			t.Errorf("JSON: %v, %d rows of %d", err, len(e.Rows), len(want))
		}
		got, err := parquet.Read[Row](bytes.NewReader(pq.Bytes()), int64(pq.Len()))
		if err != nil || asJSON(got) != asJSON(want) {
			t.Errorf("Parquet: %v, %d rows of %d", err, len(got), len(want))
		}
		lines, err := csv.NewReader(&text).ReadAll()
		if err != nil || len(lines) != len(want)+1 {
			t.Fatalf("CSV: %v, %d lines of %d rows", err, len(lines), len(want))
		}
		for k, line := range lines[1:] {
			w := want[k]
			cells := []string{w.Run, strconv.FormatInt(w.N, 10), strconv.FormatInt(w.Infinite, 10), strconv.FormatInt(w.MaxNs, 10)}
			for j, column := range []string{"run", "n", "infinite", "max_ns"} {
				at := -1
				for c, name := range lines[0] {
					if name == column {
						at = c
					}
				}
				if line[at] != cells[j] {
					t.Errorf("CSV: %s of row %d is %q, want %q", column, k, line[at], cells[j])
				}
			}
			for j, p := range w.Percentiles {
				cell, text := line[len(line)-len(w.Percentiles)+j], ""
				if p.Ns != nil {
					text = strconv.FormatInt(*p.Ns, 10)
				}
				if cell != text {
					t.Errorf("CSV: p%g of row %d is %q, want %q", p.Percent, k, cell, text)
				}
			}
		}
	}
}

// Raw messages as CSV and as named columns are computed to the same percentiles
// that they were made with.
func TestRandomColumnsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 25))
	var b strings.Builder
	b.WriteString("due,got\n")
	var c stats.Counter
	for i := range 5000 {
		at := 1_700_000_000_000_000_000 + int64(i)*1e6
		l := int64(1e6 * math.Exp(2*r.NormFloat64()))
		if err := c.Record(l); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d,%d\n", at, at+l)
	}
	columns, err := importer.ParseColumns("intended=due:ns,received=got:ns")
	if err != nil {
		t.Fatal(err)
	}
	d, err := importer.Read("x.csv", strings.NewReader(b.String()), importer.Options{Columns: columns})
	if err != nil {
		t.Fatal(err)
	}
	none := time.Duration(0)
	l := analysis.Summarize(d, analysis.View{Warmup: &none}).Steps[0].Latencies["end_to_end"]
	h := c.Take()
	for _, q := range []float64{0.5, 0.75, 0.95, 0.99} {
		ns, _ := h.Quantile(q, 0)
		if got := l.Percentiles[analysis.FormatPercent(q*100)].Ns; !near(float64(got), float64(ns), 0.005, 0) {
			t.Errorf("p%g is %d, want %d", q*100, got, ns)
		}
	}
	if l.N != 5000 || l.MaxNs != h.Max || l.MinNs != h.Min {
		t.Errorf("%+v, want %d from %d to %d", l, h.N, h.Min, h.Max)
	}
}
