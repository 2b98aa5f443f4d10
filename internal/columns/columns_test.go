package columns

import (
	"strings"
	"testing"
)

const hostile = "a|b\n::error::x\x1b[31m <script>alert(1)</script> `c` [d](http://e) \xff\u202e*f* @g"

func TestCellsStayInTheirPlace(t *testing.T) {
	table := Table{Header: []string{"name", "n"}, Rows: [][]string{{hostile, "1"}, {"µs", "1,000"}}, Left: 1}
	var text, markdown strings.Builder
	if err := table.Write(&text); err != nil {
		t.Fatal(err)
	}
	if err := table.WriteMarkdown(&markdown); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	if len(lines) != 3 || strings.ContainsAny(text.String(), "\x1b\u202e\ufffd") || !strings.HasPrefix(lines[2], "  µs ") || !strings.HasSuffix(lines[2], "  1,000") {
		t.Errorf("text:\n%s", text.String())
	}
	lines = strings.Split(strings.TrimRight(markdown.String(), "\n"), "\n")
	if len(lines) != 4 || strings.Contains(markdown.String(), "<") || lines[1] != "| :-- | --: |" {
		t.Errorf("markdown:\n%s", markdown.String())
	}
	for _, l := range lines {
		if n := strings.Count(l, "|") - strings.Count(l, `\|`); n != 3 {
			t.Errorf("%d bars in %q", n, l)
		}
	}
	if !strings.Contains(markdown.String(), "\\`c\\` \\[d\\](http://e) \\*f\\* \\@g") {
		t.Errorf("markdown:\n%s", markdown.String())
	}
}
