package importer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What the functions of patterns.go stand for.
const anyDecimal = `(\d+(?:[.,]\d+)?)`

var (
	kafkaLineExpression     = regexp.MustCompile(`(\d+)( steady state)? records sent, ` + anyDecimal + ` records/sec \(.*?\), ` + anyDecimal + ` ms avg latency, ` + anyDecimal + ` (?:ms )?max latency(.*)$`)
	percentilesExpression   = regexp.MustCompile(anyDecimal + ` ms (\d+(?:[.,]\d+)?)th`)
	averageExpression       = regexp.MustCompile(`Avg latency: ` + anyDecimal + ` ms`)
	endToEndExpression      = regexp.MustCompile(`(\d+(?:[.,]\d+)?)th = ` + anyDecimal)
	wrkPercentileExpression = regexp.MustCompile(`^\s*(\d+(?:\.\d+)?)%\s+(\d+(?:\.\d+)?)(us|ms|s|m|h)\s*$`)
	wrkRateExpression       = regexp.MustCompile(`^Requests/sec:\s+(\S+)\s*$`)
)

// FuzzPatterns holds each of the functions against its regular expression.
func FuzzPatterns(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*"))
	if err != nil {
		f.Fatal(err)
	}
	lines := 0
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			continue
		}
		body, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for i, line := range bytes.Split(body, []byte("\n")) {
			if i < 60 && len(line) < 400 {
				f.Add(string(line))
				lines++
			}
		}
	}
	if lines < 100 {
		f.Fatalf("only %d lines of files that other tools wrote", lines)
	}
	for _, line := range []string{
		"1 records sent, 2 records/sec (3), 4,5 ms avg latency, 6.7 ms max latency, 8 ms 50th, 1,234.5 ms 99.9th.",
		"x 12 steady state records sent, 1.0 records/sec (a), b), 2 ms avg latency, 3 max latency", "7 steady state steady state records sent, 1 records/sec (), 2 ms avg latency, 3 ms max latency",
		" records sent, 5 records sent, 1 records/sec (), ), 2 ms avg latency, 3 ms ms max latency", "1 ms 2 ms 3th 4 ms 5.6.7th 1.2.3 ms 8th",
		"50th = 199th = 2 99.9th = 3.4.5", "Avg latency: x Avg latency: 1,5 ms", "Avg latency: 1. ms", " 50.000%  1.20ms ", "50%1s", "50.% 1s", "5% 1.m", "5% 1ns", "Requests/sec: 1 2", "Requests/sec:1", "Requests/sec:\t 1\f\r", "Requests/sec: \v", "Requests/sec:",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		check := func(what string, got, want any) {
			t.Helper()
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Errorf("%s of %q is %q, want %q", what, text, got, want)
			}
		}
		if !bytes.ContainsAny([]byte(text), "\n") { // they are lines
			check("line", kafkaLine(text), kafkaLineExpression.FindStringSubmatch(text))
		}
		pairs := func(all [][]string) (out [][2]string) {
			for _, m := range all {
				out = append(out, [2]string{m[1], m[2]})
			}
			return out
		}
		check("percentiles", kafkaPercentiles(text), pairs(percentilesExpression.FindAllStringSubmatch(text, -1)))
		check("end to end", kafkaEndToEnd(text), pairs(endToEndExpression.FindAllStringSubmatch(text, -1)))
		one := func(e *regexp.Regexp) []string {
			if m := e.FindStringSubmatch(text); m != nil {
				return append(m[1:], "true")
			}
			return nil
		}
		found := func(ok bool, parts ...string) []string {
			if !ok {
				return nil
			}
			return append(parts, "true")
		}
		mean, ok := kafkaAverage(text)
		check("average", found(ok, mean), one(averageExpression))
		percent, value, unit, ok := wrkPercentile(text)
		check("percentile of wrk", found(ok, percent, value, unit), one(wrkPercentileExpression))
		rate, ok := wrkRate(text)
		check("rate of wrk", found(ok, rate), one(wrkRateExpression))
	})
}
