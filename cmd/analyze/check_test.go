package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/analysis/gate"
)

// The recorded run has two steps of 500 messages per second, of which
// the second left some unsent.
func TestCheckHasAnExitStatusForEachState(t *testing.T) {
	for line, c := range map[string]struct {
		status int
		want   string // on standard error
	}{
		"--slo p50<1h":                   {0, ""},
		"--slo p50<1ns":                  {3, "broken, found"},
		"--slo p99.999<1h":               {4, "too few messages"},
		"--slo p99.999<1h --slo p50<1ns": {3, "p50<1ns at"},
		"--slo p50@7<1h":                 {4, "no step of this rate"},
		"--slo received_per_s>=1 --slo overrun<=2 --warmup 0s": {0, ""},
		"--against RUN --max-regression p50=10%":               {4, ""},
		"":                                                     {2, "there is nothing to hold"},
		"--slo p50<1":                                          {2, "no duration"},
		"--slo p50<-1ms":                                       {2, "is negative"},
		"--slo p50<1h --json --github":                         {2, "give one of them"},
		"--max-regression p50=10%":                             {2, "give --against RUN"},
		"--against RUN --slo p50<1h":                           {2, "--against holds nothing by itself"},
		"--against RUN --max-regression lost=10%":              {2, "only percentiles"},
		"--slo p50<1h --junit nowhere/at/all.xml":              {1, "cannot be written"},
	} {
		args := append([]string{"check", fixture}, strings.Fields(strings.ReplaceAll(line, "RUN", fixture))...)
		status, stdout, stderr := analyze(t, args...)
		if status != c.status || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") > 1 || (status == 0) != (stderr == "") {
			t.Errorf("%s: status %d, want %d with %q\n%s%s", line, status, c.status, c.want, stdout, stderr)
		}
	}
	if status, _, stderr := analyze(t, "check", "--slo", "p50<1h"); status != 2 || !strings.Contains(stderr, "takes a RUN") {
		t.Errorf("without a run: status %d, %q", status, stderr)
	}
}

func TestCheckWritesAllFormats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "limits.xml")
	status, stdout, stderr := analyze(t, "check", fixture, "--slo", "p50<1ns", "--slo", "p50>0s", "--junit", path, "--github")
	if status != 3 || !strings.Contains(stdout, "::error title=p50<1ns at ") || !strings.Contains(stdout, "::notice title=queuebench::") {
		t.Errorf("status %d\n%s%s", status, stdout, stderr)
	}
	body, err := os.ReadFile(path)
	if err != nil || xml.Unmarshal(body, new(struct{})) != nil || !strings.Contains(string(body), "<failure ") {
		t.Errorf("%v\n%s", err, body)
	}
	status, stdout, _ = analyze(t, "check", fixture, fixture, "--slo", "p50<1h", "--json")
	var r gate.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || status != 0 || r.State != gate.Held || len(r.Runs) != 2 {
		t.Errorf("status %d, %v, %+v", status, err, r)
	}
}
