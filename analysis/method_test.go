package analysis

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"queuebench/rawlog"
)

// markdownTable returns the rows of the table whose header begins with a cell.
func markdownTable(t *testing.T, doc, first string) [][]string {
	t.Helper()
	var out [][]string
	in := false
	for line := range strings.Lines(doc) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			in = false
		case cells[0] == first && len(out) == 0:
			in = true
		case in && !strings.HasPrefix(cells[0], "---"):
			out = append(out, cells)
		}
	}
	if len(out) == 0 {
		t.Fatalf("docs/method.md has no table of %s", first)
	}
	return out
}

// The example of docs/method.md comes out as it says there.
func TestMethodExample(t *testing.T) {
	b, err := os.ReadFile("../docs/method.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	at := func(cell string) time.Duration {
		if cell == "" {
			return never
		}
		n, err := strconv.Atoi(cell)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(n) * ms
	}
	s := &StepDigest{Rate: 5, Complete: true, StartNs: testStart, Duration: 2 * sec, Interval: 200 * ms}
	s.Intervals = newIntervals(s.Duration, s.Interval, nil)
	j := newJoiner(s, []string{"g"})
	j.maxSeq, j.sentWhole, j.receivedWhole = 10, true, true
	feedExample(t, j, markdownTable(t, doc, "seq"), at)
	j.finish()

	d := synthDigest(*s)
	d.Manifest.Steps[0].DeadlineNs = testStart + int64(7*sec)
	x := Summarize(d, view(400*ms, 50, 75)).Steps[0]
	if f := findingOf(x.Findings, "accounting-breach"); f != nil {
		t.Error(f.Text)
	}
	a, e := x.Accounting, latencyOf(x, EndToEnd)
	supported := map[bool]string{true: "yes", false: "no"}
	got := map[string]string{
		"scheduled": FormatCount(a.Scheduled), "attempted": FormatCount(a.Attempted), "acked": FormatCount(a.Acked), "failed": FormatCount(a.Failed),
		"overrun": FormatCount(a.Overrun), "received": FormatCount(a.Received), "lost": FormatCount(a.Lost), "duplicates": FormatCount(a.Duplicates),
		"used": FormatCount(a.RecordsUsed), "trimmed": FormatCount(a.RecordsTrimmed),
		"end-to-end n": FormatCount(e.N), "end-to-end p50": FormatLatency(e.Percentiles["50"].Ns), "end-to-end p75": e.Percentiles["75"].Text(),
		"end-to-end min": e.Min(), "end-to-end mean": e.Mean(), "end-to-end max": e.Max(),
		"publish p50":   FormatLatency(latencyOf(x, Publish).Percentiles["50"].Ns),
		"send lag max":  latencyOf(x, SendLag).Max(),
		"p50 supported": supported[e.Percentiles["50"].Supported],
	}
	for _, row := range markdownTable(t, doc, "result") {
		if got[row[0]] != row[1] {
			t.Errorf("%s: %s, the document says %s", row[0], got[row[0]], row[1])
		}
		delete(got, row[0])
	}
	for name := range got {
		t.Errorf("the document does not say %s", name)
	}
}

func feedExample(t *testing.T, j *joiner, table [][]string, at func(string) time.Duration) {
	t.Helper()
	ns := func(d time.Duration) int64 {
		if d == never {
			return rawlog.Null
		}
		return testStart + int64(d)
	}
	for i, c := range table {
		status, ok := rawlog.StatusOf(c[5])
		if !ok {
			t.Fatalf("status %q", c[5])
		}
		j.row(0, int64(i), ns(at(c[1])), ns(at(c[2])), ns(at(c[3])), 0, status)
		if received := at(c[4]); received != never {
			j.delivery(0, 0, int64(i), ns(received), rawlog.Null)
		}
	}
	j.delivery(0, 0, 4, testStart+int64(2500*ms), rawlog.Null)
}
