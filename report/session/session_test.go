package session

import (
	"bytes"
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
