package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"queuebench/internal/reliability"
)

// newModule works in a module of two rooms with a target each, of which room imports
// below, all committed.
func newModule(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	write(t, "go.mod", "module m\n\ngo 1.26\n")
	write(t, "below/below.go", "package below\n\nfunc Word(b []byte) int {\n\tif len(b) > 1 && b[0] == 'a' {\n\t\tif b[1] == 'b' {\n\t\t\treturn 2\n\t\t}\n\t\treturn 1\n\t}\n\treturn 0\n}\n")
	write(t, "below/a_test.go", "package below\n\nimport \"testing\"\n\nfunc FuzzBelow(f *testing.F) {\n\tf.Add([]byte(\"x\"))\n\tf.Fuzz(func(t *testing.T, b []byte) { Word(b) })\n}\n")
	write(t, "room/room.go", "package room\n\nimport \"m/below\"\n\nfunc Read(b []byte) int { return below.Word(b) }\n")
	write(t, "room/a_test.go", "package room\n\nimport \"testing\"\n\nfunc FuzzRead(f *testing.F) {\n\tf.Add([]byte(\"x\"))\n\tf.Fuzz(func(t *testing.T, b []byte) { Read(b) })\n}\n")
	write(t, "room/other_test.go", "package room\n")
	git(t, "init", "-q")
	commit(t, "all")
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func commit(t *testing.T, what string) {
	t.Helper()
	git(t, "add", "-A")
	git(t, "commit", "-q", "-m", what)
}

// What is left to do goes by what was changed since a pass that was long enough.
func TestWhatIsLeftToDo(t *testing.T) {
	newModule(t)
	file := filepath.Join(t.TempDir(), "results.jsonl")
	t.Setenv(reliability.Variable, file)
	todo := func() string {
		t.Helper()
		var out bytes.Buffer
		if err := run(t.Context(), &out, []string{"-list", "-todo", "-time", "10m"}); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(out.String()), " ")
	}
	check := func(when, want string) {
		t.Helper()
		if got := todo(); got != want {
			t.Errorf("%s: %q is left, expected %q", when, got, want)
		}
	}
	passed := func(row reliability.Row) {
		t.Helper()
		row.ID, row.What = "fuzz/"+row.ID, row.ID
		if row.At.IsZero() {
			row.At = time.Now().Add(time.Hour)
		}
		if err := reliability.Append(file, row); err != nil {
			t.Fatal(err)
		}
	}
	check("at first", "below.FuzzBelow room.FuzzRead")
	head := git(t, "rev-parse", "--short=10", "HEAD")
	passed(reliability.Row{ID: "room.FuzzRead", Effort: 599, Commit: head})
	check("after a pass that is too short", "below.FuzzBelow room.FuzzRead")
	passed(reliability.Row{ID: "room.FuzzRead", Effort: 600, Commit: head})
	passed(reliability.Row{ID: "below.FuzzBelow", Effort: 601, Commit: head})
	check("after all", "")
	write(t, "room/other_test.go", "package room\n\nvar _ = 1\n")
	commit(t, "another test")
	check("after a change of another test", "")
	write(t, "room/room.go", "package room\n\nimport \"m/below\"\n\nfunc Read(b []byte) int { return 1 + below.Word(b) }\n")
	check("after a change that is not committed", "room.FuzzRead")
	git(t, "checkout", "-q", "--", ".")
	check("after it was undone", "")
	write(t, "below/more.go", "package below\n")
	commit(t, "what is imported")
	check("after a change of what room imports", "below.FuzzBelow room.FuzzRead")

	// Where the commit says nothing, times do.
	now := time.Now()
	passed(reliability.Row{ID: "room.FuzzRead", Effort: 600, Commit: "not known", At: now.Add(9 * time.Minute)})
	check("after a pass that began before the change", "below.FuzzBelow room.FuzzRead")
	passed(reliability.Row{ID: "room.FuzzRead", Effort: 600, Commit: "0123456789 with changes", At: now.Add(20 * time.Minute)})
	passed(reliability.Row{ID: "below.FuzzBelow", Effort: 600, Commit: "0123456789", At: now.Add(20 * time.Minute)})
	check("after passes since then", "")
	body, err := os.ReadFile("room/a_test.go")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "room/a_test.go", string(body)+"\n// A word.\n")
	check("after a change of the target's file", "room.FuzzRead")
	git(t, "checkout", "-q", "--", ".")
	passed(reliability.Row{ID: "room.FuzzRead", Effort: 600, Failed: true, At: now.Add(30 * time.Minute)})
	check("after a failure", "room.FuzzRead")
	var out bytes.Buffer
	if err := run(t.Context(), &out, []string{"-todo", "-only", "Below", "-time", "10m"}); err != nil || !strings.HasPrefix(out.String(), "0 of 1 targets have no pass of 10m0s") {
		t.Errorf("nothing is left: %v, %s", err, out.String())
	}
}

// Small inputs that reach what no seed does become seeds.
func TestInputsAreKept(t *testing.T) {
	newModule(t)
	var out bytes.Buffer
	cache := ".fuzz/room/FuzzRead/"
	for name, text := range map[string]string{"1": "ab", "2": "ac", "3": "abc", "4": "a", "5": strings.Repeat("a", keptBytes)} {
		write(t, cache+name, "go test fuzz v1\n[]byte(\""+text+"\")\n")
	}
	for range 2 { // what is kept is kept once
		if err := run(t.Context(), &out, []string{"-keep"}); err != nil {
			t.Fatal(err)
		}
		kept, err := filepath.Glob("room/testdata/fuzz/FuzzRead/*")
		if err != nil || len(kept) != 2 || filepath.Base(kept[0]) != "kept-1" || filepath.Base(kept[1]) != "kept-2" {
			t.Fatalf("kept %q, %v", kept, err)
		}
	}
	write(t, "below/a_test.go", "package below\n\nimport \"testing\"\n\nfunc FuzzBelow(f *testing.F) {\n\tf.Add([]byte(\"x\"))\n\tf.Fuzz(func(t *testing.T, b []byte) {\n\t\tif len(b) > 0 && b[0] == 'a' {\n\t\t\tt.Error(\"no\")\n\t\t}\n\t})\n}\n")
	write(t, ".fuzz/below/FuzzBelow/1", "go test fuzz v1\n[]byte(\"a\")\n")
	if err := run(t.Context(), &out, []string{"-keep"}); err == nil || !strings.Contains(err.Error(), "kept-1 fails") {
		t.Errorf("an input that fails: %v", err)
	}
	if _, err := os.Stat("below/testdata/fuzz/FuzzBelow"); !os.IsNotExist(err) {
		t.Errorf("it is there: %v", err)
	}
}

// What is kept costs little in a clone and in the tests.
func TestWhatIsKeptIsSmall(t *testing.T) {
	var size int64
	of := map[string]int64{}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), keptPrefix) || !strings.Contains(filepath.ToSlash(path), "/testdata/fuzz/") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		size += info.Size()
		of[filepath.Dir(path)] += info.Size()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if size > 200<<10 {
		t.Errorf("%d bytes are kept", size)
	}
	for dir, n := range of {
		if n > keptBytes {
			t.Errorf("%d bytes are kept in %s", n, dir)
		}
	}
}
