package reliability

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// ended is a test that ends when its cleanups are called.
type ended struct {
	testing.TB
	failed, skipped bool
	cleanups        []func()
}

func (e *ended) Helper()          {}
func (e *ended) Name() string     { return "TestOfAFake/part" }
func (e *ended) Failed() bool     { return e.failed }
func (e *ended) Skipped() bool    { return e.skipped }
func (e *ended) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

func TestATestLeavesARow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.jsonl")
	t.Setenv(Variable, file)
	for _, e := range []*ended{{}, {failed: true}, {skipped: true}} {
		e.TB = t
		row := Try(e, Row{ID: "kill/x", What: "kill -9 <of x>", Effort: 20})
		row.Happened = "20 | 20"
		for _, f := range e.cleanups {
			f()
		}
	}
	rows, err := Read(file)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%+v, %v", rows, err)
	}
	r := rows[0]
	if r.ID != "kill/x" || r.Happened != "20 | 20" || r.Failed || !rows[1].Failed || r.Where != "`TestOfAFake` in `internal/reliability`" || r.At.IsZero() || r.Commit == "" || !strings.Contains(r.Machine, "processors") {
		t.Errorf("%+v", rows)
	}
	if err := Write(file, rows); err != nil {
		t.Fatal(err)
	}
	if again, err := Read(file); err != nil || !reflect.DeepEqual(again, rows) {
		t.Errorf("%+v, %v", again, err)
	}
	if err := Append("results.jsonl", r); err == nil || !strings.Contains(err.Error(), "whole path") {
		t.Errorf("a file in whatever folder a test runs in: %v", err)
	}
	if err := os.WriteFile(file, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("no row: %v", err)
	}
	if rows, err := Read(file + "none"); len(rows) > 0 || err != nil {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestRoomsOfTests(t *testing.T) {
	for function, want := range map[string]string{
		"queuebench/cmd/bench.TestX":                  "cmd/bench",
		"queuebench/objectstore_test.TestX.func1":     "objectstore",
		"queuebench/queue/deltalake_test.(*w).run":    "queue/deltalake",
		"queuebench/stats.TestX":                      "stats",
		"queuebench/interop/faults.TestDelta.func2.1": "interop/faults",
	} {
		if got := roomOf(function); got != want {
			t.Errorf("%s is of %s, expected %s", function, got, want)
		}
	}
}

// A long pass stays until one that is as long, or a failure; a failure stays until
// a pass that is as long.
func TestWhichRowIsShown(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for tried, want := range map[string]string{
		"6":              "6",
		"6 6'":           "6'",
		"600 6":          "600",
		"6 600":          "600",
		"600 6!":         "6!",
		"600! 6":         "600!",
		"600! 6 600'":    "600'",
		"6! 6' 600":      "600",
		"600 6! 6' 600'": "600'",
	} {
		rows := []Row{{ID: "b"}}
		for i, word := range strings.Fields(tried) {
			effort := 6.0
			if strings.HasPrefix(word, "600") {
				effort = 600
			}
			rows = append(rows, Row{ID: "a", Often: word, Effort: effort, Failed: strings.HasSuffix(word, "!"), At: at.Add(time.Duration(i) * time.Hour)})
		}
		if got := Chosen(rows); len(got) != 2 || got[0].Often != want || got[1].ID != "b" {
			t.Errorf("%s: %+v", tried, got)
		}
	}
}

func TestDocumentHasATableForEachMark(t *testing.T) {
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	rows := []Row{
		{ID: "fuzz/a", What: "a", Often: "600 s", Happened: "nothing", At: at, Commit: "abc", Machine: "two"},
		{ID: "kill/a", What: "x|y", Often: "20\ntimes", Holds: "all", Happened: "1 lost", Failed: true, Where: "here", At: at, Commit: "abc", Machine: "one"},
	}
	doc := "# T\n<!-- results -->\nold\n<!-- end of results -->\nbetween\n<!-- results: fuzz -->\n<!-- end of results -->\nafter\n"
	want := "# T\n<!-- results -->\n" +
		"| what was tried | how often | what has to hold | what happened | where | when, commit, machine |\n|---|---|---|---|---|---|\n" +
		"| x\\|y | 20 times | all | **it failed**: 1 lost | here | 2026-01-02, abc, B |\n\nB: one.\n" +
		"<!-- end of results -->\nbetween\n<!-- results: fuzz -->\n" +
		"| what was tried | how often | what happened | when, commit, machine |\n|---|---|---|---|\n" +
		"| a | 600 s | nothing | 2026-01-02, abc, A |\n\nA: two.\n" +
		"<!-- end of results -->\nafter\n"
	for range 2 { // what was written is written again
		got, err := Document(doc, rows)
		if err != nil || got != want {
			t.Fatalf("%v\n%s\nexpected\n%s", err, got, want)
		}
		doc = got
	}
	for _, none := range []string{"# T\n", "<!-- results: fuzz -->\n<!-- end of results -->\n"} {
		if _, err := Document(none, rows); err == nil {
			t.Errorf("%q has no place for rows, and there is no error", none)
		}
	}
	if letter(0) != "A" || letter(25) != "Z" || letter(26) != "AA" {
		t.Error(letter(0), letter(25), letter(26))
	}
}
