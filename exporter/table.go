package exporter

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"

	"queuebench/analysis"
	"queuebench/stats"
)

// Schema is the schema of the JSON, docs/export.schema.json.
const Schema = "queuebench.export/1"

// Row is a latency of a step after the cut, or of one of its intervals.
type Row struct {
	Run     string  `json:"run" parquet:"run,dict"`
	Step    int64   `json:"step" parquet:"step"`
	Repeat  int64   `json:"repeat" parquet:"repeat"`
	Rate    float64 `json:"rate" parquet:"rate"`
	Variant string  `json:"variant" parquet:"variant,dict"`
	Latency string  `json:"latency" parquet:"latency,dict"`
	// Whole: of the whole step after the cut; else of the interval from StartNs
	// to EndNs since the step's start.
	Whole   bool  `json:"whole" parquet:"whole"`
	StartNs int64 `json:"start_ns" parquet:"start_ns"`
	EndNs   int64 `json:"end_ns" parquet:"end_ns"`
	// Trimmed: the interval lies in the warm-up or the cool-down.
	Trimmed  bool  `json:"trimmed" parquet:"trimmed"`
	N        int64 `json:"n" parquet:"n"`
	Infinite int64 `json:"infinite" parquet:"infinite"`
	MinNs    int64 `json:"min_ns" parquet:"min_ns"`
	MeanNs   int64 `json:"mean_ns" parquet:"mean_ns"`
	MaxNs    int64 `json:"max_ns" parquet:"max_ns"`
	// Percentiles in the order of the view; one that falls on a message that
	// never came has no value.
	Percentiles []Percentile `json:"percentiles" parquet:"percentiles"`
}

// Percentile is a nearest-rank percentile of a row.
type Percentile struct {
	Percent float64 `json:"percent" parquet:"percent"`
	Ns      *int64  `json:"ns" parquet:"ns,optional"`
}

// Export is the JSON.
type Export struct {
	Schema  string           `json:"schema"`
	Summary analysis.Summary `json:"summary"`
	Rows    []Row            `json:"rows"`
}

// rows are the whole steps, each followed by its intervals; those without a
// message are left out.
func rows(d *analysis.Digest, v analysis.View) []Row {
	percents := v.Percentiles
	if len(percents) == 0 {
		percents = analysis.DefaultPercentiles
	}
	out := []Row{}
	for _, s := range Steps(d, v) {
		base := Row{Run: d.Manifest.Run, Step: int64(s.Summary.Step), Repeat: int64(s.Summary.Repeat), Rate: s.Summary.Rate, Variant: s.Summary.Variant}
		for k := range analysis.NumKinds {
			if _, ok := s.Summary.Latencies[k.String()]; !ok {
				continue
			}
			base.Latency = k.String()
			row := base
			row.Whole = true
			row.StartNs, row.EndNs = s.Summary.KeptNs()
			h, infinite := total(s.Kept, k)
			if out = row.appendTo(out, h, infinite, percents); h.N+infinite == 0 {
				continue
			}
			for _, iv := range s.Digest.Intervals {
				row := base
				row.StartNs, row.EndNs = int64(iv.Start), int64(iv.End)
				row.Trimmed = !slices.ContainsFunc(s.Kept, func(kept analysis.Interval) bool { return kept.Start == iv.Start })
				if iv.Latency[k].N+iv.Infinite[k] > 0 {
					out = row.appendTo(out, iv.Latency[k], iv.Infinite[k], percents)
				}
			}
		}
	}
	return out
}

func (r Row) appendTo(out []Row, h stats.Compact, infinite int64, percents []float64) []Row {
	r.N, r.Infinite, r.MinNs, r.MeanNs, r.MaxNs = h.N+infinite, infinite, h.Min, int64(h.Mean()), h.Max
	r.Percentiles = []Percentile{}
	for _, p := range percents {
		x := Percentile{Percent: p}
		if ns, beyond := h.Quantile(stats.FromPercent(p), infinite); !beyond && r.N > 0 {
			x.Ns = &ns
		}
		r.Percentiles = append(r.Percentiles, x)
	}
	return append(out, r)
}

func writeJSON(w io.Writer, d *analysis.Digest, v analysis.View) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(Export{Schema: Schema, Summary: analysis.Summarize(d, v), Rows: rows(d, v)})
}

func writeParquet(w io.Writer, d *analysis.Digest, v analysis.View) error {
	p := parquet.NewGenericWriter[Row](w, parquet.Compression(&parquet.Zstd))
	if _, err := p.Write(rows(d, v)); err != nil {
		return err
	}
	return p.Close()
}

// writeCSV writes a row for each of rows. Times are in ns but that of an
// interval, in seconds; a blank percentile never came.
func writeCSV(w io.Writer, d *analysis.Digest, v analysis.View) error {
	c := csv.NewWriter(w)
	all := rows(d, v)
	header := []string{"run", "step", "repeat", "rate", "variant", "latency", "whole", "start_s", "end_s", "trimmed", "n", "infinite", "min_ns", "mean_ns", "max_ns"}
	percents := v.Percentiles
	if len(percents) == 0 {
		percents = analysis.DefaultPercentiles
	}
	for _, p := range percents {
		header = append(header, "p"+analysis.FormatPercent(p)+"_ns")
	}
	if err := c.Write(header); err != nil {
		return err
	}
	seconds := func(ns int64) string { return strconv.FormatFloat(time.Duration(ns).Seconds(), 'f', -1, 64) }
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, r := range all {
		line := []string{r.Run, whole(r.Step), whole(r.Repeat), strconv.FormatFloat(r.Rate, 'f', -1, 64), r.Variant, r.Latency, strconv.FormatBool(r.Whole),
			seconds(r.StartNs), seconds(r.EndNs), strconv.FormatBool(r.Trimmed), whole(r.N), whole(r.Infinite), whole(r.MinNs), whole(r.MeanNs), whole(r.MaxNs)}
		for _, p := range r.Percentiles {
			if p.Ns == nil {
				line = append(line, "")
				continue
			}
			line = append(line, whole(*p.Ns))
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
