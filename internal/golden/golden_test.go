package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// spy notes that a test would have failed.
type spy struct {
	testing.TB
	failed bool
}

func (s *spy) Helper()               {}
func (s *spy) Errorf(string, ...any) { s.failed = true }

func TestCheckTellsADifferenceAndKeepsIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.golden")
	check := func(got string) bool {
		s := &spy{TB: t}
		Check(s, path, []byte(got))
		return !s.failed
	}
	if check("a") {
		t.Error("a file that is not there holds it")
	}
	if err := os.WriteFile(path, []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	if !check("a") || check("b") {
		t.Error("a file of \"a\" does not hold a, or holds b")
	}
	if got, err := os.ReadFile(path + ".got"); err != nil || string(got) != "b" {
		t.Errorf("beside it: %q, %v", got, err)
	}
	*update = true
	defer func() { *update = false }()
	if !check("b") {
		t.Error("what was accepted is not held")
	}
}
