//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Written with -o /dev/null, an output took the device from the whole machine.
func TestWhatIsNoRegularFileStaysWhatItIs(t *testing.T) {
	run := inEmptyFolder(t)
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("target", []byte("what was there before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", "link"); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{"digest": {"digest"}, "report": {"report", "--light"}} {
		t.Run(name, func(t *testing.T) {
			if status, _, stderr := analyze(t, append(args, run, "-o", "plain")...); status != 0 {
				t.Fatal(stderr)
			}
			want, err := os.ReadFile("plain")
			if err != nil || len(want) == 0 {
				t.Fatalf("%d bytes, %v", len(want), err)
			}
			read := make(chan []byte, 1)
			go func() {
				f, err := os.Open("pipe")
				if err != nil {
					read <- nil
					return
				}
				defer f.Close()
				body, _ := io.ReadAll(f)
				read <- body
			}()
			if status, stdout, stderr := analyze(t, append(args, run, "-o", "pipe")...); status != 0 || stdout != "" {
				t.Fatalf("status %d, stdout %q, stderr %q", status, stdout, stderr)
			}
			if got := <-read; !bytes.Equal(got, want) {
				t.Errorf("the pipe gave %d bytes, want %d", len(got), len(want))
			}
			if status, stdout, _ := analyze(t, append(args, run, "-o", "link")...); status != 0 || stdout != "link\n" {
				t.Errorf("link: status %d, stdout %q", status, stdout)
			}
			if got, err := os.ReadFile("target"); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the link's target has %d bytes, want %d, %v", len(got), len(want), err)
			}
			for file, mode := range map[string]os.FileMode{"pipe": os.ModeNamedPipe, "link": os.ModeSymlink} {
				if info, err := os.Lstat(file); err != nil || info.Mode().Type() != mode {
					t.Errorf("%s became %v, %v", file, info.Mode(), err)
				}
			}
		})
	}
}

func TestAnOutputThatCannotBeWrittenIsToldInOneLine(t *testing.T) {
	run := inEmptyFolder(t)
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("file", []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line   string
		status int
		want   string
	}{
		{"report RUN -o folder", 2, "is a folder"},
		{"digest RUN -o folder", 2, "is a folder"},
		{"report RUN -o nowhere/r.html", 2, "there is no folder nowhere"},
		{"digest RUN -o file/r", 2, "there is no folder file"},
		{"plot RUN --out file", 1, "choose another --out"},
		{"plot RUN --out file/x", 1, "choose another --out"},
		{"site RUN --out file", 1, ""},
		{"report RUN --out=", 2, "--out is empty"},
		{"digest RUN --out=", 2, "--out is empty"},
		{"plot RUN --out=", 2, "--out is empty"},
		{"site RUN --out=", 2, "--out is empty"},
		{"summary file", 1, "of no format that is known"},
	} {
		status, stdout, stderr := analyze(t, strings.Fields(strings.ReplaceAll(c.line, "RUN", run))...)
		if status != c.status || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, want %d with %q\nstdout %q\nstderr %q", c.line, status, c.status, c.want, stdout, stderr)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) != 2 {
		t.Errorf("left %v, %v", entries, err)
	}
	if body, err := os.ReadFile("file"); err != nil || string(body) != "kept" {
		t.Errorf("the file is %q, %v", body, err)
	}
}
