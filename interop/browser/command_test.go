package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/site"
)

// TestPageEqualsTheCommandLine takes the whole way with the programs that users
// have: bench records a sweep, analyze writes the report and the site, and what
// the page shows after the warm-up was moved is what `analyze summary` computes
// from the raw log with the same --warmup.
func TestPageEqualsTheCommandLine(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	if err := tools(); err != nil {
		t.Fatal(err)
	}
	command := func(t *testing.T, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(scratch, name), args...)
		cmd.Dir = work
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, errs.String())
		}
		return out.String()
	}
	lines := strings.Fields(command(t, "bench", "sweep", "--queue", "delta", "--rates", "500,2000", "--duration", "6s", "--commit-interval", "50ms", "--quiet"))
	address := lines[len(lines)-1]
	command(t, "analyze", "report", address, "-o", "report.html")
	command(t, "analyze", "site", address, "--out", "site")
	server := httptest.NewServer(site.Handler(filepath.Join(work, "site")))
	t.Cleanup(server.Close)

	for name, page := range map[string]string{
		"report from disk": (&url.URL{Scheme: "file", Path: filepath.Join(work, "report.html")}).String(),
		"site over HTTP":   server.URL + "/#log=" + url.QueryEscape("runs/"+filepath.Base(address)+".digest.gz"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTab(t)
			b.look(1200, 900, false)
			b.open(page)
			seen := map[string]bool{}
			for _, warmup := range []string{"", "0", "1", "2.5"} {
				args := []string{"summary", address, "--json"}
				var v analysis.View
				if warmup != "" {
					args = append(args, "--warmup", warmup+"s")
					d, err := time.ParseDuration(warmup + "s")
					if err != nil {
						t.Fatal(err)
					}
					v.Warmup = &d
					b.change(func() { b.enter("warmup", warmup) })
				}
				var sum analysis.Summary
				if err := json.Unmarshal([]byte(command(t, "analyze", args...)), &sum); err != nil {
					t.Fatal(err)
				}
				compareSummary(b, sum, v)
				// On a quiet host one percentile may well fall into the same
				// bucket after each cut: not all of all latencies do.
				var percentiles strings.Builder
				for k := range analysis.NumKinds {
					fmt.Fprintln(&percentiles, sum.Steps[1].Latencies[k.String()].Percentiles)
				}
				seen[percentiles.String()] = true
			}
			if len(seen) < 2 {
				t.Error("no warm-up changed a percentile at 2,000 msg/s: the comparison shows nothing")
			}
		})
	}
}
