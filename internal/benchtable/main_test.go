//go:build unix

package main

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, strings.Fields("-messages 1000 -runs 1 first true -- broke sh -c exit%3 -- last true")); err == nil {
		t.Error("a program that fails has a row")
	}
	out.Reset()
	if err := run(t.Context(), &out, []string{"-messages", "1000", "-runs", "3", "first", "true", "--", "broke", "sh", "-c", "exit 3", "--", "last", "true"}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 4 || !strings.Contains(lines[0], "times last") || !strings.Contains(lines[2], "broke") || strings.Fields(lines[3])[5] != "1.0" {
		t.Errorf("table:\n%s", out.String())
	}
	for _, args := range []string{"", "-messages 5", "-messages 0 a true", "-messages 5 -runs 0 a true", "-messages 5 a", "-messages 5 a true -- b", "-messages 5 a no-such-program-there"} {
		if err := run(t.Context(), &out, strings.Fields(args)); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
