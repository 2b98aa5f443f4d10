// Package golden compares what a test made with a file that holds what it
// should be. Only tests use it. It refuses to accept what came by itself: that
// is for whoever runs the tests with -update and reads the difference.
package golden

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files, and what they are made of, anew")

// Updating says that the golden files are written anew.
func Updating() bool { return *update }

// Examples are the blocks "```example NAME" of a document, each line with what
// stands before and after its arrow.
func Examples(t testing.TB, path string) map[string][][2]string {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][][2]string{}
	name := ""
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		if after, opens := strings.CutPrefix(line, "```example "); opens {
			name = after
		} else if strings.HasPrefix(line, "```") {
			name = ""
		} else if in, want, ok := strings.Cut(line, " => "); ok && name != "" {
			out[name] = append(out[name], [2]string{in, want})
		}
	}
	return out
}

// Check fails unless the file at path holds got. On a mismatch what came stands
// beside it, as path.got; with -update it is written to path.
func Check(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err == nil && bytes.Equal(got, want) {
		return
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	came := path + ".got"
	if err := os.WriteFile(came, got, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Errorf("%s differs: what came is in %s; -update accepts it", path, came)
}
