package analysis

import (
	"strings"
	"testing"
)

func TestMarkdownStaysInItsPlace(t *testing.T) {
	const hostile = "a|b` <script>alert(1)</script> [x](http://y)"
	s := Summary{Run: hostile, Findings: []Finding{{ID: "x", Severity: Failure, Text: hostile}},
		Steps: []StepSummary{{Rate: 1000, Complete: true, WarmupRule: hostile, Latencies: map[string]LatencySummary{
			EndToEnd.String(): {N: 5000, MaxNs: 9e6, Percentiles: map[string]Percentile{"50": {Ns: 2e6, Supported: true}, "99": {Ns: 8e6, Supported: true}}}},
			Findings: []Finding{{ID: "y", Severity: Warning, Text: "slow"}, {ID: "z", Severity: Note, Text: "a note"}}}}}
	var b strings.Builder
	if err := WriteMarkdown(&b, s, "https://example.org/#log=a&warmup=3s"); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"| 1,000 | 5,000 | 2.00 ms | 8.00 ms |", "**Failure:** a\\|b", "**Warning, 1,000 msg/s:** slow", "[Explore this view](<https://example.org/#log=a&warmup=3s>)", "**Incomplete:**"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, bad := range []string{"<script", "[x](", "a note"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q came through:\n%s", bad, text)
		}
	}
}
