package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"queuebench/internal/reliability"
)

// What stands in the repository is what the results say.
func TestTheDocumentSaysWhatTheResultsSay(t *testing.T) {
	root := filepath.Join("..", "..", "..", "docs")
	rows, err := reliability.Read(filepath.Join(root, "reliability.jsonl"))
	if err != nil || len(rows) == 0 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	doc, err := os.ReadFile(filepath.Join(root, "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown, err := withTargets(reliability.Chosen(rows), filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	want, err := reliability.Document(string(doc), shown)
	if err != nil {
		t.Fatal(err)
	}
	// A target that is new and never ran may be missing until the next update.
	never := regexp.MustCompile(`(?m)^.*\| never for a time that was noted \|.*\n`)
	if never.ReplaceAllString(want, "") != never.ReplaceAllString(string(doc), "") {
		t.Error("docs/reliability.md is not what docs/reliability.jsonl says: run `make reliability RUN=`")
	}
}

func TestUpdate(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(io.Discard, nil); err == nil || !strings.Contains(err.Error(), "make reliability") {
		t.Errorf("without results: %v", err)
	}
	write("docs/reliability.jsonl", `{"id":"b","what":"later"}`+"\n"+`{"id":"a","what":"old","at":"2026-01-01T00:00:00Z"}`+"\n"+`{"id":"a","what":"new","at":"2026-01-02T00:00:00Z"}`+"\n")
	write("docs/reliability.md", "<!-- results -->\n<!-- end of results -->\n")
	if err := run(io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("docs/reliability.md")
	if err != nil || !strings.Contains(string(doc), "| new |") || strings.Contains(string(doc), "| old |") {
		t.Errorf("%v\n%s", err, doc)
	}
	if rows, err := reliability.Read("docs/reliability.jsonl"); err != nil || len(rows) != 2 || rows[0].What != "new" {
		t.Errorf("%+v, %v", rows, err)
	}

	write("room/x_test.go", "package room\nfunc TestA(t *testing.T) { t.Run(\"\", func(t *testing.T) { reliability.Try(t, r) }) }\nfunc TestB(t *testing.T) { reliability.Try(t, r); reliability.Try(t, r) }\nfunc TestC(t *testing.T) {}\n")
	write("room/tagged_test.go", "//go:build interop\n\npackage room\nfunc TestD(t *testing.T) { reliability.Try(t, r) }\n")
	write("room/fuzz_test.go", "package room\nfunc FuzzNever(f *testing.F) {}\nfunc FuzzOften(f *testing.F) {}\n")
	shown, err := withTargets([]reliability.Row{{ID: "a"}, {ID: "fuzz/room.FuzzGone"}, {ID: "fuzz/room.FuzzOften", Often: "10m"}}, ".")
	if err != nil || len(shown) != 3 || shown[0].ID != "a" || shown[1].ID != "fuzz/room.FuzzNever" || !strings.HasPrefix(shown[1].Often, "never") || shown[2].Often != "10m" {
		t.Errorf("%+v, %v", shown, err)
	}
	write("nested/go.mod", "module nested\n")
	write("nested/x_test.go", "package nested\nfunc TestE(t *testing.T) { reliability.Try(t, r) }\n")
	var out bytes.Buffer
	if err := run(&out, []string{"-tests"}); err != nil || out.String() != "./room TestA|TestB\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	write("room/y_test.go", "package room\nfunc helper(t *testing.T) { reliability.Try(t, r) }\n")
	if err := run(io.Discard, []string{"-tests"}); err == nil || !strings.Contains(err.Error(), "helper") {
		t.Errorf("a row that cannot be found: %v", err)
	}
}
