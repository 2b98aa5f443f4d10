package session

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/report"
	"queuebench/report/reporttest"
)

func digestFile(t *testing.T, name string) File {
	t.Helper()
	var b bytes.Buffer
	d := reporttest.Digest(reporttest.Spec{Run: name, Rates: []float64{500}, Duration: 2 * time.Second})
	if err := analysis.WriteDigest(&b, d); err != nil {
		t.Fatal(err)
	}
	return File{Name: name + ".digest", Data: b.Bytes()}
}

// The number in the address is that of what was given, also where something
// before it could not be read.
func TestFragmentNamesTheRun(t *testing.T) {
	var s Session
	s.Open([]File{digestFile(t, "one"), {Name: "bad.digest", Data: []byte("no digest")}, digestFile(t, "three")})
	for fragment, want := range map[string]string{
		"": "one", "run=1&warmup=1s": "one", "log=a&log=b&run=3": "three",
		"run=2": "not a queuebench digest", "run=4": "1 to 3", "run=x": "1 to 3", "run=0": "1 to 3",
		"view=else": "no view", "view=compare": "bad.digest cannot be compared",
	} {
		doc, err := s.View(fragment, 700, "")
		got := doc.Title
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q shows %q, want %q", fragment, got, want)
		}
	}
}

func TestCompareTakesAllRuns(t *testing.T) {
	s := Session{Compare: func(ds []*analysis.Digest, v analysis.View, o report.Options) (report.Document, error) {
		return report.Document{Title: ds[0].Manifest.Run + " against " + ds[1].Manifest.Run + " " + v.Fragment()}, nil
	}}
	s.Open([]File{digestFile(t, "one"), digestFile(t, "two")})
	doc, err := s.View("log=a&log=b&view=compare&warmup=1s", 700, "")
	if err != nil || doc.Title != "one against two warmup=1s" {
		t.Errorf("%q, %v", doc.Title, err)
	}
	s.Open([]File{digestFile(t, "one")})
	if _, err := s.View("view=compare", 700, ""); err == nil || !strings.Contains(err.Error(), "two runs or more") {
		t.Error(err)
	}
}

// What the page has no reader for is one entry for all that was given together,
// by the name of what was given, with the command that reads it.
func TestForeignFilesAreOneEntry(t *testing.T) {
	part := []byte("PAR1 and so on")
	for name, c := range map[string]struct {
		files []File
		want  string // names of the runs, and of each error a part
	}{
		"a folder of a log": {[]File{
			{Name: "my run/sent/p.parquet", Foreign: true, Data: part}, {Name: "my run/run.json", Foreign: true, Data: []byte(`{"schema": "queuebench.run/1"}`)},
			{Name: "my run/notes.txt", Foreign: true, Data: []byte("x")},
		}, "my run: my run/sent/p.parquet and 2 more are of a raw log. This file opens digests only, so that it stays small: drop what `analyze digest 'my run' -o run.digest.gz` writes, or open it with `analyze serve 'my run'`"},
		"a manifest":      {[]File{{Name: "run.json", Foreign: true, Data: []byte(`{"schema": "queuebench.run/1"}`)}}, "run.json: run.json is of a raw log. This file opens digests only, so that it stays small: drop what `analyze digest RUN -o run.digest.gz` writes, or open it with `analyze serve RUN`"},
		"of another tool": {[]File{{Name: "it's.csv", Foreign: true, Data: []byte("a,b")}}, "it's.csv: it's.csv is no digest. This file opens digests only, so that it stays small: drop what `analyze digest 'it'\\''s.csv' -o run.digest.gz` writes, or open it with `analyze serve 'it'\\''s.csv'`"},
		"several":         {[]File{{Name: "a", Foreign: true, Data: []byte("a")}, {Name: "b", Foreign: true}}, "a: a and 1 more are no digests. This file opens digests only, so that it stays small: drop what `analyze digest a -o run.digest.gz` writes, or open it with `analyze serve a`"},
		"empty":           {[]File{{Name: "a", Foreign: true}}, "a: a is empty: copy it again"},
		"unreadable":      {[]File{{Name: "a", Foreign: true, Err: errors.New("gone")}}, "a: gone"},
		"two drops":       {[]File{{Name: "a", Foreign: true, Group: 1}, {Name: "b", Foreign: true, Group: 2}}, "a: a is empty: copy it again; b: b is empty: copy it again"},
		"damaged":         {[]File{{Name: "x.gz", Data: []byte("no digest")}}, "x.gz: x.gz: reading a digest: not a queuebench digest: line 1: not an interval of a histogram log: 1 fields instead of 4. Copy it again, or make it anew: `analyze digest RUN`"},
	} {
		var s Session
		s.Open(c.files)
		var got []string
		for _, r := range s.Runs {
			got = append(got, r.Name+": "+r.Err.Error())
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "; "), c.want)
		}
	}
}
