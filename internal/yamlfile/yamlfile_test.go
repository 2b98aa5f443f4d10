package yamlfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func read(text string) (*Node, error) { return Read("x.yaml", strings.NewReader(text)) }

// show writes a tree on one line, with the line of each scalar.
func show(n *Node) string {
	var parts []string
	switch n.Kind {
	case List:
		for i := range n.Items {
			parts = append(parts, show(&n.Items[i]))
		}
		return "[" + strings.Join(parts, " ") + "]"
	case Map:
		for i := range n.Fields {
			parts = append(parts, fmt.Sprintf("%s@%d:%s", n.Fields[i].Name, n.Fields[i].Line, show(&n.Fields[i].Value)))
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	return fmt.Sprintf("%s/%d@%d", n.Value, n.Kind, n.Line)
}

func TestReadKeepsLinesAndTypes(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: x": "{a@1:1/2@1 b@2:x/1@2}",
		"# note\n\nrate: 1_000\nodd: 0x10\ntrue: yes\non: true": "{rate@3:1000/2@3 odd@4:16/2@4 true@5:yes/1@5 on@6:true/4@6}",
		"f: 1.5\ng: 1e3\nh: 10s\ni: \"5\"\nj:\nk: 2026-01-02":   "{f@1:1.5/3@1 g@2:1000/3@2 h@3:10s/1@3 i@4:5/1@4 j@5:/0@5 k@6:2026-01-02/1@6}",
		"l: [1, 2]\nm:\n  - a\n  - {n: 1}":                      "{l@1:[1/2@1 2/2@1] m@2:[a/1@3 {n@4:1/2@4}]}",
		"a: &x {b: 1}\nc: *x":                                   "{a@1:{b@1:1/2@1} c@2:{b@2:1/2@2}}",
		"---\na: 18446744073709551615":                          "{a@2:18446744073709551615/2@2}",
		"a: |\n  two\n  lines\nb: 1":                            "{a@1:two\nlines\n/1@1 b@4:1/2@4}",
	} {
		n, err := read(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := show(n); got != want {
			t.Errorf("%q:\n%s, want\n%s", text, got, want)
		}
	}
}

func TestMistakesAreToldWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "x.yaml: the file says nothing",
		"# nothing":              "x.yaml: the file says nothing",
		"- a\n- b":               "x.yaml:1: the file is a list",
		"just text":              "x.yaml:1: the file is text",
		"a: 1\nb: 2\na: 3":       "x.yaml:3: the key a comes twice: it is at line 1 too",
		"a: 1\n---\nb: 2":        "a second document begins here",
		"a: 1\nb: [1, 2":         "x.yaml:1: this is no YAML", // the library's line is where the list begins
		"a: 1\n\tb: 2":           "this is no YAML",
		"a: *nobody":             "this is no YAML",
		"a: &x 1\n<<: {b: 1}":    "x.yaml:2: merge keys",
		"a: !mine 1":             `x.yaml:1: the tag "!mine" is not known`,
		"a: !mine [1]":           `the tag "!mine" is not known`,
		"a: !mine {b: 1}":        `the tag "!mine" is not known`,
		"a: !!binary aGFsbG8=":   "is not known",
		"[a, b]: 1":              "x.yaml:1: a key here is no name",
		"? {a: 1}\n: 2":          "a key here is no name",
		"~: 1":                   "a key here is no name",
		"a: !!int ten":           "x.yaml:1:",
		"a: !!bool perhaps":      "x.yaml:1:",
		"a: &a [*a]":             "more than",
		"a: \xff\xfe":            "this is no YAML",
		"a: " + deep(MaxDepth+2): "more than 32 deep",
		"a: " + deep(9000):       "more than 32 deep",
		"a: [" + strings.Repeat("1,", MaxNodes+1) + "]": "more than 20000 values",
		strings.Repeat("#", MaxBytes+1):                 "larger than",
		laughs():                                        "more than 20000 values, aliases expanded",
	} {
		n, err := read(text)
		var at *Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &at) {
			t.Errorf("%.60q: %v, %v, want %q", text, n, err, want)
		}
	}
}

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// laughs is a document whose aliases expand to 10⁹ values.
func laughs() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x]\n")
	for i := range 9 {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	return b.String()
}

// hostile are documents that try to become large.
func hostile() []string {
	return []string{
		laughs(), "a: " + deep(MaxBytes/2-2), "a: [" + strings.Repeat("1,", MaxBytes/2-3) + "]", strings.Repeat("- ", MaxBytes/2),
		"a: " + strings.Repeat("{b: ", MaxBytes/4-1), strings.Repeat("a:\n", MaxBytes/3), strings.Repeat("&a ", MaxBytes/3),
		"a: \"" + strings.Repeat(`\U0010FFFF`, MaxBytes/10-1) + "\"", strings.Repeat("? ", MaxBytes/2), strings.Repeat("#\n", MaxBytes/2),
		strings.Repeat("%YAML 1.2\n---\n", MaxBytes/14), "a: " + strings.Repeat("!", MaxBytes-3),
	}
}

func TestHostileFilesStaySmall(t *testing.T) {
	const limit = 100 << 20 // in all, most of it garbage at once
	for _, text := range hostile() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = read(text) // most are refused
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > limit {
			t.Errorf("%.30q…: %d MB allocated", text, used>>20)
		} else {
			t.Logf("%.30q…: %d MB", text, used>>20)
		}
	}
}

func TestOpenReadsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "w.yaml")
	if err := os.WriteFile(path, []byte("rate: 5"), 0o644); err != nil {
		t.Fatal(err)
	}
	n, err := Open(path)
	if err != nil || n.Field("rate").Value != "5" || n.Field("none") != nil {
		t.Errorf("%v, %v", n, err)
	}
	if _, err := Open(path + ".absent"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"a: 1\nb: [x, 2.5, true]\nc: {d: ~}", "a: &x {b: 1}\nc: *x", "a: |\n  t\n", "- 1", laughs(), "a: !!int 3\n'b': \"\\u00e4\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		n, err := Read("fuzz", strings.NewReader(string(body)))
		if err != nil {
			return
		}
		count := 0
		var check func(n *Node, depth int)
		check = func(n *Node, depth int) {
			if count++; count > MaxNodes || depth > MaxDepth {
				t.Fatalf("%d nodes, %d deep", count, depth)
			}
			for i := range n.Items {
				check(&n.Items[i], depth+1)
			}
			names := map[string]bool{}
			for i := range n.Fields {
				if names[n.Fields[i].Name] {
					t.Fatalf("%q twice", n.Fields[i].Name)
				}
				names[n.Fields[i].Name] = true
				check(&n.Fields[i].Value, depth+1)
			}
		}
		check(n, 0)
	})
}
