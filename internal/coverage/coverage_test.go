package coverage

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a program of tests executed is told block by block, of a module that is made
// here.
func TestWhatTestsExecute(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":           "module m\n\ngo 1.26\n",
		"room/room.go":     "package room\n\nimport \"m/below\"\n\nfunc Parse(s string) int {\n\tif s == \"long\" {\n\t\treturn below.Len(s)\n\t}\n\treturn 0\n}\n",
		"below/below.go":   "package below\n\nfunc Len(s string) int {\n\treturn len(s)\n}\n",
		"room/a_test.go":   "package room\n\nimport \"testing\"\n\nfunc TestShort(t *testing.T) { Parse(\"\") }\nfunc TestLong(t *testing.T) { Parse(\"long\") }\n",
		"other/other.go":   "package other\n",
		"other/a_test.go":  "package other\n\nimport \"testing\"\n\nfunc TestFails(t *testing.T) { t.Error(\"so it is\") }\n",
		"broken/broken.go": "package broken\n\nfunc\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	if err := Build(t.Context(), "./room", "tests"); err != nil {
		t.Fatal(err)
	}
	run := func(tests string) Profile {
		t.Helper()
		p, err := Run(t.Context(), "tests", "room", tests)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	none, short, both := run("^TestNone$"), run("^TestShort$"), run("^Test(Short|Long)$")
	if short.New(both) || !both.New(short) || !short.New(none) || none.New(Profile{}) {
		t.Errorf("none %v\nshort %v\nboth %v", none, short, both)
	}
	// The first statement is executed once more, and two blocks for the first time.
	more := both.Beyond(short)
	reached := map[string]bool{}
	for _, block := range more {
		file, _, ok := Place(block)
		reached[file] = ok
	}
	if len(more) != 3 || !reached["m/below/below.go"] || !reached["m/room/room.go"] {
		t.Errorf("%v", more)
	}
	none.Add(short)
	none.Add(both)
	if len(both.Beyond(none)) > 0 || none.New(both) {
		t.Errorf("%v", none)
	}
	if err := Build(t.Context(), "./other", "failing"); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), "failing", "other", "."); err == nil || !strings.Contains(err.Error(), "so it is") {
		t.Errorf("a test that fails: %v", err)
	}
	if err := Build(t.Context(), "./broken", "broken-tests"); err == nil {
		t.Error("a room that does not compile is no error")
	}
}

func TestProfilesAreRead(t *testing.T) {
	p, err := parse([]byte("mode: count\nm/a.go:1.2,3.4 2 5\nm/a.go:1.2,3.4 2 1\nm/b.go:7.1,7.9 1 0\n"))
	if err != nil || len(p) != 2 || p["m/a.go:1.2,3.4"] != 6 || p["m/b.go:7.1,7.9"] != 0 {
		t.Errorf("%v, %v", p, err)
	}
	if file, line, ok := Place("m/a.go:1.2,3.4"); file != "m/a.go" || line != 1 || !ok {
		t.Error(file, line, ok)
	}
	if _, _, ok := Place("m/a.go"); ok {
		t.Error("a file is no block")
	}
	for _, text := range []string{"m/a.go:1.2,3.4 2\n", "m/a.go:1.2,3.4 2 x\n"} {
		if _, err := parse([]byte(text)); err == nil {
			t.Errorf("%q is no error", text)
		}
	}
}
