package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/internal/golden"
	"queuebench/rawlog"
)

// hostile is a name that tries to leave every place it is put into.
const hostile = "a|b`c` <script>alert(1)</script>\n::error::x \x1b[31m"

// example is a comparison that has something of everything.
func example() []Side {
	r := rand.New(rand.NewPCG(7, 7))
	base := spec{level: 50e6, between: 0.02, rates: []float64{1000, 5000, 9000}, settings: map[string]string{"commit-interval": "100ms", "seed": "1", "same": "x"}}
	other := base
	other.level, other.tail, other.rates = 50e6, 1.3, []float64{1000, 5000, 20000}
	other.settings = map[string]string{"commit-interval": "200ms", "seed": "2", "same": "x", "batch": hostile}
	lossy := base
	lossy.lost, lossy.rates = 2, []float64{1000}
	a, b := base.side(r, "before", 6), other.side(r, "after", 6)
	c := Side{Label: "lossy", Runs: []*analysis.Digest{lossy.digest(r)}}
	for i, d := range b.Runs {
		d.Manifest.Program.Version = "v1.1.0"
		d.Manifest.Host.CPUs = 2 + i%2
		d.Manifest.LogStore.Address = "s3://logs/" + d.Manifest.Run
	}
	for i := range a.Runs {
		a.Runs[i].Manifest.LogStore.Address = "s3://logs/" + a.Runs[i].Manifest.Run
	}
	b.Runs[0].Steps[1].Duration += time.Second
	return []Side{a, b, c}
}

func TestGolden(t *testing.T) {
	r, err := Compare(example(), Options{View: uncut()})
	if err != nil {
		t.Fatal(err)
	}
	var text, markdown bytes.Buffer
	if err := errors.Join(WriteText(&text, r), WriteMarkdown(&markdown, r)); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/comparison.txt.golden", text.Bytes())
	golden.Check(t, "testdata/comparison.md.golden", markdown.Bytes())
	for i := range r.Pairs {
		r.Pairs[i].Cells = r.Pairs[i].Cells[:1] // the rest is alike
		for _, g := range []*Group{&r.Pairs[i].Cells[0].Base, &r.Pairs[i].Cells[0].New} {
			for k := range g.Replicates {
				g.Replicates[k].Findings = []string{} // which are not this package's
			}
		}
	}
	out, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/comparison.json.golden", append(out, '\n'))
}

func TestResultsSurviveJSON(t *testing.T) {
	r, err := Compare(example(), Options{View: uncut(50, 99, 99.99)})
	if err != nil {
		t.Fatal(err)
	}
	first, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again Result
	if err := json.Unmarshal(first, &again); err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(&again)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("what was read is not what was written")
	}
	var a, b bytes.Buffer
	if err := errors.Join(WriteText(&a, r), WriteText(&b, &again)); err != nil {
		t.Fatal(err)
	}
	if a.String() != b.String() {
		t.Errorf("text of the comparison:\n%s\nof what was read:\n%s", a.String(), b.String())
	}
	for _, v := range []float64{0, 1.5, math.Inf(1), math.Inf(-1), math.NaN(), 1e300} {
		out, err := json.Marshal(Number(v))
		var back Number
		if err := errors.Join(err, json.Unmarshal(out, &back)); err != nil || float64(back) != v && !math.IsNaN(v) || math.IsNaN(v) != math.IsNaN(float64(back)) {
			t.Errorf("%g becomes %s and %g, %v", v, out, float64(back), err)
		}
	}
	if err := json.Unmarshal([]byte(`"x"`), new(Number)); err == nil {
		t.Error("a text is taken for a number")
	}
}

func TestDifferencesAreFootnotes(t *testing.T) {
	sides := example()
	r := compared(t, uncut(), sides...)
	var got []string
	for _, d := range r.Pairs[0].Differences {
		got = append(got, d.Text())
	}
	want := []string{
		"commit-interval: 100ms → 200ms",
		"batch: none → " + hostile,
		"processors: 2 → 2 or 3 (the runs of a side differ among themselves)",
		"program version: v1.0.0 → v1.1.0",
		"length of the step: 20s → 21s or 20s (the runs of a side differ among themselves) (5,000 msg/s)",
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%q is not among\n%s", w, strings.Join(got, "\n"))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d differences, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	if d := Between(&sides[0].Runs[0].Manifest, &sides[0].Runs[1].Manifest); len(d) != 0 {
		t.Errorf("two runs of one side: %+v", d)
	}
}

// Every field of a manifest that says how a run was made is a footnote when it
// differs: one that is added must be thought of.
func TestEveryFieldOfTheEnvironmentCounts(t *testing.T) {
	plain := func() *rawlog.Manifest { return &rawlog.Manifest{Run: "r"} }
	for _, part := range []string{"Program", "Host", "Queue", "Store", "LogStore"} {
		typ := reflect.TypeFor[rawlog.Manifest]()
		field, _ := typ.FieldByName(part)
		for i := range field.Type.NumField() {
			name := part + "." + field.Type.Field(i).Name
			d := plain()
			switch v := reflect.ValueOf(d).Elem().FieldByName(part).Field(i); v.Kind() {
			case reflect.String:
				v.SetString("x")
			case reflect.Bool:
				v.SetBool(true)
			default:
				v.SetInt(1 << 40)
			}
			if len(Between(plain(), d)) != 1 {
				t.Errorf("%s: %+v", name, Between(plain(), d))
			}
		}
	}
}

func TestRepeatsOfOneRunAreReplicates(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	a := spec{level: 50e6, between: 0.02, repeats: 5, run: "a"}
	b := a
	b.level, b.run = 60e6, "b"
	result := compared(t, uncut(), Side{"a", []*analysis.Digest{a.digest(r)}}, Side{"b", []*analysis.Digest{b.digest(r)}})
	row := result.rows()[0]
	if row.Method != RankTest || len(row.Base) != 5 || row.Verdict != Changed || math.Abs(float64(row.Ratio)-1.2) > 0.06 {
		t.Errorf("%+v", row)
	}
	if text := strings.Join(result.Warnings, "\n"); strings.Count(text, "the repeats are of one run") != 2 {
		t.Errorf("warnings %q", text)
	}
}

func TestWhatCannotBeComparedIsSaid(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	s := spec{level: 50e6, between: 0.02}
	few := spec{level: 50e6, intervals: 24, perPiece: 5}
	short := spec{level: 50e6, intervals: 10, perPiece: 200}
	lossy := s
	lossy.lost = 3
	skewed := s
	skewed.run = "skewed"
	behind := skewed.digest(r)
	for i := range behind.Steps[0].Intervals {
		h := &behind.Steps[0].Intervals[i].Latency[analysis.EndToEnd]
		h.Min = -h.Max
		for k := range h.Buckets {
			h.Buckets[k].Index = -1 - h.Buckets[len(h.Buckets)-1].Index - int32(len(h.Buckets)-k)
		}
	}
	for name, c := range map[string]struct {
		a, b    Side
		verdict Verdict
		why     string
	}{
		"three and three runs": {s.side(r, "a", 3), s.side(r, "b", 3), NotShown, "no interval: 3+3 runs are too few for one of 95 %"},
		"one and six runs":     {s.side(r, "a", 1), s.side(r, "b", 6), NotShown, "no interval: 1+6"},
		"too few messages":     {few.side(r, "a", 4), few.side(r, "b", 4), NotCompared, "too few messages for p99"},
		"too few blocks":       {short.side(r, "a", 1), short.side(r, "b", 1), NotCompared, "no percentile of both has enough messages"},
		"lost messages":        {s.side(r, "a", 1), lossy.side(r, "b", 1), NotCompared, "no interval: one falls on messages that never came"},
		"lost messages, runs":  {s.side(r, "a", 5), lossy.side(r, "b", 5), Changed, ""},
		"clock skew":           {s.side(r, "a", 1), Side{"b", []*analysis.Digest{behind}}, NotCompared, "not positive"},
	} {
		result := compared(t, uncut(99), c.a, c.b)
		row := result.rows()[0]
		var text strings.Builder
		if err := WriteText(&text, result); err != nil {
			t.Fatal(err)
		}
		if tested := !math.IsNaN(float64(row.P)); strings.Contains(text.String(), "Nothing could be tested") == tested || strings.Contains(text.String(), "all 0 tests") {
			t.Errorf("%s: tested %t, and the text says\n%s", name, tested, text.String())
		}
		cells := result.Pairs[0].Table().Rows[0]
		if dash := cells[2] == analysis.Dash; dash != (strings.Contains(row.Why, "too few messages") || strings.Contains(row.Why, "enough messages")) {
			t.Errorf("%s: the text has %q, and why is %q", name, cells[2], row.Why)
		}
		if row.Verdict != c.verdict || !strings.Contains(row.Why, c.why) || c.why == "" && row.Why != "" {
			if !(name == "too few blocks" && strings.Contains(row.Why, "too few")) {
				t.Errorf("%s: %s, why %q; want %s, %q", name, row.Verdict, row.Why, c.verdict, c.why)
			}
		}
	}
}

func TestSidesWithoutACommonLoad(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	a, b := spec{level: 5e6, rates: []float64{10}}, spec{level: 5e6, rates: []float64{20}}
	for _, sides := range [][]Side{
		{a.side(r, "a", 1), b.side(r, "b", 1)},
		{a.side(r, "a", 1)},
		{a.side(r, "a", 1), {Label: "empty"}},
		nil,
	} {
		if _, err := Compare(sides, Options{}); !errors.Is(err, ErrSides) {
			t.Errorf("%d sides: %v", len(sides), err)
		}
	}
}

func TestSplitByASetting(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	d := spec{run: "varied", level: 50e6, between: 0.01, rates: []float64{1000, 1000}, repeats: 5}.digest(r)
	for i := range d.Steps {
		d.Steps[i].Settings["consumers"] = fmt.Sprint(1 + d.Steps[i].Step)
	}
	sides, err := Split([]*analysis.Digest{d}, "consumers")
	if err != nil || len(sides) != 2 || sides[0].Label != "consumers 1" || sides[1].Label != "consumers 2" {
		t.Fatalf("%+v, %v", sides, err)
	}
	result := compared(t, uncut(), sides...)
	if text := strings.Join(result.Warnings, "\n"); strings.Contains(text, "with itself") {
		t.Errorf("other steps of one run are called the same: %q", text)
	}
	twice := Side{Label: "twice", Runs: []*analysis.Digest{d, d}}
	text := strings.Join(compared(t, uncut(), twice, twice).Warnings, "\n")
	if strings.Count(text, "run varied is in twice more than once") == 0 {
		t.Errorf("a run that is given twice: %q", text)
	}
	p := result.Pairs[0]
	if len(p.Cells) != 1 || len(p.Cells[0].Base.Replicates) != 5 || len(p.OnlyBase)+len(p.OnlyNew) != 0 {
		t.Errorf("%+v", p)
	}
	if len(p.Differences) != 1 || p.Differences[0].Text() != "consumers: 1 → 2" {
		t.Errorf("differences %+v", p.Differences)
	}
	if _, ok := d.Steps[0].Settings["consumers"]; !ok || d.Manifest.Settings["consumers"] != "" {
		t.Error("the run itself was changed")
	}
	if _, err := Split([]*analysis.Digest{d}, "partitions"); err == nil || !strings.Contains(err.Error(), "its own are consumers") {
		t.Errorf("a setting that it does not have: %v", err)
	}
}

func TestChangeText(t *testing.T) {
	for ratio, want := range map[float64]string{
		1: "+0.0 %", 1.1024: "+10.2 %", 0.969: "−3.1 %", 2.5: "+150 %", 12.34: "×12.3", math.Inf(1): "∞", 0: "−100 %", 0.99999: "+0.0 %", math.NaN(): analysis.Dash,
	} {
		if got := ChangeText(ratio); got != want {
			t.Errorf("%g: %q, want %q", ratio, got, want)
		}
	}
}
