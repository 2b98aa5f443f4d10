package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"queuebench/analysis"
)

// Every number of an overlay has what an acknowledgement meant beside it, in the
// text and in the page, and each run has a line of its own.
func TestOverlayHasDurabilityBesideEachNumber(t *testing.T) {
	dir := t.TempDir()
	status, stdout, stderr := analyze(t, "overlay", fixture, fixture, "--out", dir, "--percentiles", "50,99")
	if status != 0 {
		t.Fatal(stderr)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) < 5 || !strings.HasPrefix(lines[0], "queue\tmsg/s\tmessages\tlost\tp50\tp99\tan ack") {
		t.Fatalf("the table is %q", stdout)
	}
	cells := strings.Split(lines[1], "\t")
	durability := cells[len(cells)-1]
	page, err := os.ReadFile(filepath.Join(dir, "overlay.html"))
	if err != nil {
		t.Fatal(err)
	}
	if durability == "" || !strings.Contains(string(page), "<svg") {
		t.Errorf("durability %q, page of %d bytes", durability, len(page))
	}
	labels := map[string]bool{}
	for _, line := range lines[1 : len(lines)-2] {
		if !strings.HasSuffix(line, durability) {
			t.Errorf("a row without durability: %q", line)
		}
		labels[strings.SplitN(line, "\t", 2)[0]] = true
	}
	for label := range labels {
		if !strings.Contains(string(page), label) {
			t.Errorf("the page does not name %s", label)
		}
	}
	if len(labels) < 2 {
		t.Errorf("the runs have the labels %v", labels)
	}
	if status, _, stderr := analyze(t, "overlay", fixture); status != 2 || !strings.Contains(stderr, "two RUNs") {
		t.Errorf("one run: status %d, %q", status, stderr)
	}
}

// What another tool recorded has its own latency, and no text of a file reaches
// the terminal as more than text.
func TestOverlayOfOtherTools(t *testing.T) {
	body, err := os.ReadFile("../../importer/testdata/vegeta.csv")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "<img src=x onerror=alert(1)>.csv")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := analyze(t, "overlay", file, file, "--out", dir, "--percentiles", "50")
	rows := strings.Split(stdout, "\n")
	if status != 0 || len(rows) < 3 || !strings.Contains(rows[1], "\t20\t0\t300 ms\t") {
		t.Errorf("status %d, %q, %s", status, stdout, stderr)
	}
	page, err := os.ReadFile(filepath.Join(dir, "overlay.html"))
	if err != nil || strings.Contains(string(page), "<img") {
		t.Errorf("%v, page:\n%.500s", err, page)
	}
	if status, _, stderr := analyze(t, "overlay", fixture, file, "--out", dir); status != 1 || !strings.Contains(stderr, "overlay draws one latency") {
		t.Errorf("two latencies: status %d, %q", status, stderr)
	}
}

// Runs of one queue have a figure of their own beside other queues, and latencies
// that are far apart a logarithmic axis unless one was asked for.
func TestFiguresOfAnOverlay(t *testing.T) {
	v := analysis.View{Percentiles: []float64{50, 99}}
	of := func(kind string, medianNs int64) analysis.Summary {
		s := summaryOf(kind, "x", "")
		for i := range s.Steps {
			p := analysis.Percentile{Ns: medianNs, Supported: true}
			s.Steps[i].Rate = float64(100 * (i + 1))
			s.Steps[i].Latencies = map[string]analysis.LatencySummary{v.Kind.String(): {N: 1000, Percentiles: map[string]analysis.Percentile{"50": p, "99": p}}}
		}
		return s
	}
	near, far := []analysis.Summary{of("a", 1e6), of("b", 2e6), of("a", 3e6)}, []analysis.Summary{of("a", 1e6), of("b", 2e6), of("a", 30e6)}
	zeroTick := regexp.MustCompile(`<text[^>]*>\s*0\s*<`)
	for name, c := range map[string]struct {
		runs []analysis.Summary
		free bool
		want string // of each figure: its name and whether its axis is logarithmic
	}{
		"near":               {near, true, "latency-per-rate latency-per-rate-a"},
		"far":                {far, true, "latency-per-rate:log latency-per-rate-a:log"},
		"far, asked for":     {far, false, "latency-per-rate latency-per-rate-a"},
		"one queue":          {[]analysis.Summary{near[0], near[2]}, true, "latency-per-rate"},
		"each its own queue": {near[:2], true, "latency-per-rate"},
	} {
		var got []string
		for _, f := range overlayFigures(c.runs, []string{"x", "y", "z"}[:len(c.runs)], v, c.free) {
			svg, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			text := f.Name
			if !zeroTick.MatchString(string(svg)) { // a logarithmic axis has none
				text += ":log"
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}
