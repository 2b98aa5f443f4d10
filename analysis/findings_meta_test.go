package analysis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// findingCase is a log that shows a finding and one that nearly does.
type findingCase struct {
	id       string
	severity Severity
	shows    *Digest
	nearly   *Digest
	says     string
}

// all are the findings of a summary, of the run and of its steps.
func (s *Summary) all() []Finding {
	out := append([]Finding{}, s.Findings...)
	for i := range s.Steps {
		out = append(out, s.Steps[i].Findings...)
	}
	return out
}

func holdCases(t *testing.T, cases []findingCase) {
	t.Helper()
	for _, c := range cases {
		shows, nearly := Summarize(c.shows, View{}), Summarize(c.nearly, View{})
		f := findingOf(shows.all(), c.id)
		switch {
		case f == nil:
			t.Errorf("%s is not found; there are %+v", c.id, shows.all())
		case f.Severity != c.severity || !strings.Contains(f.Text, c.says) || f.Advice == "" || f.Tuning != "docs/tuning.md#"+c.id:
			t.Errorf("%s is a %s: %s (%s, %s)", c.id, f.Severity, f.Text, f.Advice, f.Tuning)
		}
		if f := findingOf(nearly.all(), c.id); f != nil {
			t.Errorf("%s of what only nearly shows it: %s", c.id, f.Text)
		}
	}
}

// findingIDs are those that the code of the rules can give.
func findingIDs(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("findings_*.go")
	if err != nil || len(files) < 10 {
		t.Fatalf("rules stand in %q, %v", files, err)
	}
	used := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for rest := string(code); ; {
			var ok bool
			if _, rest, ok = strings.Cut(rest, `finding("`); !ok {
				break
			}
			id, _, _ := strings.Cut(rest, `"`)
			used[id] = true
		}
	}
	return used
}

// Each finding is told of a log that shows it and not of one that nearly does.
// Every finding that can be made has such a pair and a section of its own in
// docs/tuning.md, and there is no section or pair of what cannot be found.
func TestFindings(t *testing.T) {
	doc, err := os.ReadFile("../docs/tuning.md")
	if err != nil {
		t.Fatal(err)
	}
	ids := findingIDs(t)
	if len(ids) < 50 {
		t.Errorf("only %d findings were looked for", len(ids))
	}
	sections := map[string]bool{}
	for line := range strings.Lines(string(doc)) {
		if id, ok := strings.CutPrefix(line, "### "); ok {
			if id = strings.TrimSpace(id); sections[id] {
				t.Errorf("docs/tuning.md has two sections %s", id)
			}
			sections[id] = true
		}
	}
	pairs := map[string]bool{}
	for _, cases := range [][]findingCase{stepCases(t), runCases(t), loadCases(t), shapeCases(t), boundCases(t), ownCases(t)} {
		holdCases(t, cases)
		for _, c := range cases {
			pairs[c.id] = true
		}
	}
	for id := range viewPairs {
		pairs[id] = true
	}
	for id := range ids {
		if !sections[id] {
			t.Errorf("docs/tuning.md has no section %s", id)
		}
		if !pairs[id] {
			t.Errorf("no pair of logs shows %s and nearly does", id)
		}
	}
	for id := range sections {
		if !ids[id] {
			t.Errorf("docs/tuning.md has a section %s that no finding has", id)
		}
	}
	for id := range pairs {
		if !ids[id] {
			t.Errorf("a pair of logs is there for %s, which no rule finds", id)
		}
	}
}

// viewPairs are those whose two logs are one log under two views: see
// TestViewFindings.
var viewPairs = map[string]bool{"warmup-longer-than-step": true, "warmup-moved": true, "window-moved": true, "window-empty": true, "breakdown-cut": true, "too-few-samples": true}
