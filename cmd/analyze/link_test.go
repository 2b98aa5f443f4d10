package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"queuebench/analysis"
	"queuebench/report/reporttest"
	"queuebench/report/session"
	"queuebench/site"
)

// linkIn is the link at the end of a Markdown summary.
func linkIn(t *testing.T, args ...string) string {
	t.Helper()
	status, out, errs := analyze(t, append([]string{"summary", "--markdown"}, args...)...)
	m := regexp.MustCompile(`\[Explore this view\]\(<([^>]+)>\)`).FindStringSubmatch(out)
	if status != 0 && status != 3 || m == nil {
		t.Fatalf("%v: status %d, %s%s", args, status, out, errs)
	}
	return m[1]
}

// The link of a summary for a pull request opens that run in the site, and shows
// the numbers that the summary has.
func TestLinkOpensWhatTheSummaryShows(t *testing.T) {
	dir := t.TempDir()
	hostile := digestNamed(t, filepath.Join(dir, "h.gz"), reporttest.HostileName)
	out := filepath.Join(dir, "site")
	if status, _, errs := analyze(t, "site", fixture, hostile, "--out", out); status != 0 {
		t.Fatal(errs)
	}
	index, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range []string{fixture, hostile} {
		for _, flags := range [][]string{
			nil, {"--warmup", "200ms"}, {"--warmup", "0s", "--percentiles", "50,99.9", "--cooldown", "100ms"}, {"--from", "200ms", "--to", "600ms"},
		} {
			link := linkIn(t, append([]string{run, "--link", "https://example.org/benchmarks/"}, flags...)...)
			u, err := url.Parse(link)
			if err != nil || u.Path != "/benchmarks/" {
				t.Fatal(link, err)
			}
			q, err := url.ParseQuery(u.Fragment)
			if err != nil || len(q["log"]) != 1 {
				t.Fatal(link, err)
			}
			// As the page does: the name in the address leads to the file.
			_, file, found := strings.Cut(string(index), `data-log="`+q.Get("log")+`" data-file="`)
			file, _, _ = strings.Cut(file, `"`)
			data, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(file)))
			if !found || err != nil {
				t.Fatalf("%s is not in the site: %v", link, err)
			}
			var s session.Session
			s.Open([]session.File{{Name: file, Data: data}})
			doc, err := s.View(u.Fragment, 1000, "")
			if err != nil {
				t.Fatal(err)
			}
			html := ""
			for _, r := range doc.Regions {
				html += r.HTML
			}
			var sum analysis.Summary
			_, text, errs := analyze(t, append([]string{"summary", run, "--json"}, flags...)...)
			if err := json.Unmarshal([]byte(text), &sum); err != nil {
				t.Fatal(err, errs)
			}
			for _, step := range sum.Steps[:1] {
				for p, value := range step.Latencies["end_to_end"].Percentiles {
					if len(flags) == 0 && p != "99" {
						continue // the page has percentiles of its own
					}
					want := fmt.Sprintf(`data-kind="end_to_end" data-percentile="%s" data-ns="%d"`, p, value.Ns)
					if !strings.Contains(html, want) {
						t.Errorf("%s shows no %s", link, want)
					}
				}
			}
		}
	}
}

// What the address says already stays, and a report has one run.
func TestLinkKeepsWhatItSays(t *testing.T) {
	name := filepath.Join(t.TempDir(), "r.gz")
	digestNamed(t, name, "r")
	log := "log=" + url.QueryEscape(site.Address("r"))
	for link, want := range map[string]string{
		"https://h/":                        "https://h/#" + log + "&warmup=1s",
		"https://h/x/index.html?a=b":        "https://h/x/index.html?a=b#" + log + "&warmup=1s",
		"https://h/report.html":             "https://h/report.html#warmup=1s",
		"https://h/#log=https://s/run.json": "https://h/#log=https://s/run.json&warmup=1s",
		"https://h/#scale=log":              "https://h/#scale=log&" + log + "&warmup=1s",
		"https://h/a%20b/#columns=sent=a":   "https://h/a%20b/#columns=sent=a&" + log + "&warmup=1s",
	} {
		if got := linkIn(t, name, "--warmup", "1s", "--link", link); got != want {
			t.Errorf("%s gives %s, want %s", link, got, want)
		}
	}
	for _, bad := range []string{"javascript:alert(1)", "//h/", "https://", "https://h/> [x](javascript:y)", "file:///x", "https://h/\n"} {
		if status, out, errs := analyze(t, "summary", name, "--markdown", "--link", bad); status != 2 || out != "" || !strings.Contains(errs, "--link") {
			t.Errorf("%q: status %d, %q, %q", bad, status, out, errs)
		}
	}
	var b bytes.Buffer
	if err := analysis.WriteMarkdown(&b, analysis.Summary{}, ""); err != nil || strings.Contains(b.String(), "Explore") {
		t.Errorf("without a link: %s, %v", b.String(), err)
	}
}
