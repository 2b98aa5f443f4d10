//go:build interop

package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"queuebench/internal/reliability"
)

// Targets run side by side, and each leaves a row. For fuzzing much of the standard
// library is compiled anew.
func TestTargetsRunSideBySide(t *testing.T) {
	newModule(t)
	file := filepath.Join(t.TempDir(), "results.jsonl")
	t.Setenv(reliability.Variable, file)
	var out bytes.Buffer
	if err := run(t.Context(), &out, []string{"-time", "200ms", "-jobs", "2"}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	rows, err := reliability.Read(file)
	if err != nil || len(rows) != 2 || rows[0].Effort != .2 || rows[0].Failed || !regexp.MustCompile(`, [1-9][\d,]* executions, `).MatchString(rows[0].Often) {
		t.Errorf("%+v, %v", rows, err)
	}
	if strings.Count(out.String(), "== building") != 2 || !strings.Contains(out.String(), "2 targets, ") {
		t.Errorf("%s", out.String())
	}
}
