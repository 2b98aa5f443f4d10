package history

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/internal/golden"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/stats"
)

// night is a run of steps at 1,000/s and 2,000/s with medians in ms, that varies
// by 3 %.
func night(r *rand.Rand, day, repeats, perPiece int, version string, levels ...float64) *analysis.Digest {
	const pieces, piece = 24, 500 * time.Millisecond
	d := &analysis.Digest{Manifest: rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: fmt.Sprintf("night-%02d", day), Complete: true,
		StartedNs: 1_767_312_000e9 + int64(day)*86_400e9, Program: rawlog.Program{Name: "bench", Version: version}, Queue: queue.Info{Kind: "test"}}}
	var counter stats.Counter
	for i, level := range levels {
		for repeat := range repeats {
			st := analysis.StepDigest{Step: i, Repeat: repeat, Rate: float64(1000 * (i + 1)), Settings: map[string]string{}, Complete: true, Duration: pieces * piece, Interval: piece}
			at := level * 1e6 * math.Exp(0.03*r.NormFloat64())
			for k := range pieces {
				for range perPiece {
					_ = counter.Record(int64(at * (0.8 + 0.4*r.Float64())))
				}
				iv := analysis.Interval{Start: time.Duration(k) * piece, End: time.Duration(k+1) * piece, Scheduled: int64(perPiece)}
				iv.Latency[analysis.EndToEnd] = counter.Take().Coarse()
				st.Intervals = append(st.Intervals, iv)
			}
			n := int64(pieces * perPiece)
			st.Accounting = analysis.Accounting{Scheduled: n, Attempted: n, Acked: n, Received: n, RecordsUsed: n}
			d.Steps = append(d.Steps, st)
			d.Manifest.Steps = append(d.Manifest.Steps, rawlog.Step{Step: i, Repeat: repeat, Rate: st.Rate, Groups: []string{"g"}, Complete: true,
				Accounting: rawlog.Accounting{Scheduled: n, Attempted: n, Acked: n, Received: n}})
		}
	}
	return d
}

func uncut() analysis.View { none := time.Duration(0); return analysis.View{Warmup: &none} }

// nightly is 24 nights, of which the first load is slower from the twelfth on,
// with a new version that night. They are added in disorder.
func nightly(t *testing.T) *Result {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	b := New(uncut())
	var all []*analysis.Digest
	for day := range 24 {
		version, level := "v1.0.0", 50.0
		if day >= 12 {
			version, level = "v1.1.0", 56
		}
		perPiece := 20
		if day == 3 {
			perPiece = 4 // too few for p99
		}
		all = append(all, night(r, day, 1+day%2, perPiece, version, level, 80))
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, d := range all {
		b.Add(d)
	}
	b.Add(all[0])
	return b.Result()
}

func TestHistoryFindsTheNight(t *testing.T) {
	r := nightly(t)
	if len(r.Runs) != 24 || r.Runs[0].Run != "night-00" || r.Runs[23].Run != "night-23" || len(r.Series) != 4 || len(r.Warnings) != 1 {
		t.Fatalf("%d runs from %+v, %d series, warnings %q", len(r.Runs), r.Runs[0], len(r.Series), r.Warnings)
	}
	for i := range r.Series {
		s := &r.Series[i]
		want := 0
		if s.Rate == 1000 {
			want = 1
		}
		if len(s.Changes) != want || len(s.Stretches) != want+1 || s.TooFew {
			t.Errorf("%s p%s: %+v", s.Load, s.Percentile, s.Changes)
			continue
		}
		if want == 0 {
			continue
		}
		c := s.Changes[0]
		if r.Runs[c.After].Run != "night-12" || r.Runs[c.Before].Run != "night-11" || math.Abs(float64(c.Ratio)-1.12) > 0.03 || !(c.Low < c.Ratio && c.Ratio < c.High) {
			t.Errorf("%s p%s: %+v", s.Load, s.Percentile, c)
		}
		if len(c.Differences) != 1 || c.Differences[0].Text() != "program version: v1.0.0 → v1.1.0" {
			t.Errorf("%s p%s: %+v", s.Load, s.Percentile, c.Differences)
		}
		if s.Percentile == "99" && (len(s.Points) != 23 || len(s.LeftOut) != 1 || s.LeftOut[0] != "night-03: too few messages") {
			t.Errorf("%d points, left out %q", len(s.Points), s.LeftOut)
		}
	}
}

func TestGolden(t *testing.T) {
	r := nightly(t)
	for i := range r.Series {
		for k := range r.Series[i].Points {
			r.Series[i].Points[k].Doubts = nil // findings, which are not this package's
		}
	}
	r.Series[0].Points[1].Doubts = []string{"runner-limited"}
	var text, table bytes.Buffer
	if err := errors.Join(WriteText(&text, r), WriteCSV(&table, r)); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/history.txt.golden", text.Bytes())
	golden.Check(t, "testdata/history.csv.golden", table.Bytes())
	first, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	var again Result
	if err := json.Unmarshal(first, &again); err != nil {
		t.Fatal(err)
	}
	if second, err := json.MarshalIndent(&again, "", " "); err != nil || !bytes.Equal(first, second) {
		t.Errorf("what was read is not what was written, %v", err)
	}
	var back bytes.Buffer
	if err := WriteText(&back, &again); err != nil || back.String() != text.String() {
		t.Errorf("the text of what was read differs, %v", err)
	}
}

func TestFewRunsAreTooFew(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	b := New(uncut())
	for day := range 6 {
		b.Add(night(r, day, 1, 20, "v1", []float64{50, 100}[day/3]))
	}
	result := b.Result()
	for _, s := range result.Series {
		if !s.TooFew || len(s.Changes) != 0 || len(s.Points) != 6 || len(s.Stretches) != 1 {
			t.Errorf("%+v", s)
		}
	}
	var text bytes.Buffer
	if err := WriteText(&text, result); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "too few runs") || result.RunsNeeded != 9 {
		t.Errorf("%d are needed\n%s", result.RunsNeeded, text.String())
	}
	empty := New(uncut()).Result()
	if err := WriteText(&text, empty); err != nil || len(empty.Runs) != 0 {
		t.Errorf("%+v, %v", empty, err)
	}
}

func TestLossesAreAChange(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	b := New(uncut())
	for day := range 20 {
		d := night(r, day, 1, 20, "v1", 50)
		if day >= 10 {
			for i := range d.Steps[0].Intervals {
				d.Steps[0].Intervals[i].Infinite[analysis.EndToEnd] = 1
			}
			d.Steps[0].Accounting.Lost = 24
		}
		b.Add(d)
	}
	for _, s := range b.Result().Series {
		if s.Percentile != "99" {
			continue
		}
		if len(s.Changes) != 1 || s.Changes[0].After != 10 || !math.IsInf(float64(s.Changes[0].Ratio), 1) || !math.IsInf(float64(s.Stretches[1].MedianNs), 1) {
			t.Errorf("%+v %+v", s.Changes, s.Stretches)
		}
	}
}

func TestHostileNamesStayInTheirField(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	const hostile = "a,\"b\"\n::error::c\x1b[31m"
	b := New(uncut())
	for day := range 2 {
		d := night(r, day, 1, 20, hostile, 50)
		d.Manifest.Run = hostile
		d.Steps[0].Settings["name"] = hostile
		b.Add(d)
	}
	result := b.Result()
	var text, table bytes.Buffer
	if err := errors.Join(WriteText(&text, result), WriteCSV(&table, result)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != 5 || len(rows[0]) != len(csvHeader) {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if strings.Contains(text.String(), "\n::error") || strings.Contains(text.String(), "\x1b") {
		t.Errorf("the text is\n%s", text.String())
	}
}
