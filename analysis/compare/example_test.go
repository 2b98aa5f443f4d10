package compare

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"queuebench/analysis"
	"queuebench/stats"
)

// The example of docs/compare.md comes out as it is written there.
func TestTheExampleInTheDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "compare.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, example, ok := strings.Cut(string(text), "### An example")
	if !ok {
		t.Fatal("the document has no example")
	}
	example, _, _ = strings.Cut(example, "\n## ")
	cells := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \| (.+) \|$`).FindAllStringSubmatch(example, -1) {
		cells[m[1]] = m[2]
	}
	side := func(name string) (ns []float64) {
		for field := range strings.FieldsSeq(cells[name]) {
			if v, err := strconv.ParseFloat(strings.Trim(field, ",ms"), 64); err == nil {
				ns = append(ns, v*1e6)
			}
		}
		return ns
	}
	base, other := side("base"), side("new")
	if len(base) != 4 || len(other) != 4 {
		t.Fatalf("base %v, new %v", base, other)
	}
	// The ratios of all pairs, by hand.
	var ratios []float64
	for _, a := range base {
		for _, b := range other {
			ratios = append(ratios, b/a)
		}
	}
	slices.Sort(ratios)
	middle := math.Sqrt(ratios[7] * ratios[8]) // the median of logarithms
	test := stats.MannWhitney(base, other)
	r, ok := RatioOf(base, other, Level)
	if !ok || math.Abs(float64(r[0])-middle) > 1e-12 || float64(r[1]) != ratios[0] && math.Abs(float64(r[1])-ratios[0]) > 1e-12 {
		t.Errorf("the estimate is %v, by hand %g from %g to %g", r, middle, ratios[0], ratios[15])
	}
	logX, _ := logs(base)
	logY, _ := logs(other)
	row := Row{Base: make([]analysis.Percentile, 4), New: make([]analysis.Percentile, 4)}
	row.SpreadBase, row.SpreadNew = Number(spread(logX)), Number(spread(logY))
	for name, want := range map[string]string{
		"U":          strconv.FormatFloat(test.U, 'f', -1, 64),
		"P":          pText(test.P),
		"change":     ChangeText(float64(r[0])),
		"interval":   ChangeText(float64(r[1])) + " … " + ChangeText(float64(r[2])),
		"spread":     fmt.Sprintf("%s %% and %s %%", digits(100*float64(row.SpreadBase)), digits(100*float64(row.SpreadNew))),
		"could find": ChangeText(math.Exp(stats.DetectableShift(4, 4, Level, Power) * row.pooled())),
	} {
		if cells[name] != want {
			t.Errorf("%s is %q, and the document says %q", name, want, cells[name])
		}
	}
}
