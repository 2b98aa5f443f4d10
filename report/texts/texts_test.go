//go:build !js

package texts_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rooms write the page. What site/publish and site/buildpage say is said on a
// command line.
var rooms = []string{"../../report", "../../report/comparison", "../../report/markup", "../../report/session", "../../site"}

// unread are literals that are no words: names of classes, of regions, of
// attributes without a value, of files.
var unread = strings.Split(`good|warning|same|slower|faster|num|num bad|num none|num zero| bad| zero| checked| selected| hidden| log|headline|findings|changes|sides|per-rate|results|loads|accounting|facts|more|`+
	`step|repeat|linear|log|Allow|class |const |function |export | from "./`, "|")

var (
	said   = regexp.MustCompile(`\b(?:aria-label|aria-valuetext|title|placeholder|alt)="([^"]*)`)
	tag    = regexp.MustCompile(`(?s)<!?/?[A-Za-z][^<>]*>`)
	inTag  = regexp.MustCompile(`(?s)^[^<>]*["=][^<>]*>`) // the end of one that begins in another literal
	cutTag = regexp.MustCompile(`(?s)<[^<>]*$`)           // or the begin of one
	pair   = regexp.MustCompile(`[\w-]+="[^"]*"?`)
	verb   = regexp.MustCompile(`%[a-z]|&(amp;)?[\w-]+=|&\w+;`)
	// named is a file, its kind, a header or a policy.
	named   = regexp.MustCompile(`^[\w./+-]*[./+-][\w./+-]*(; charset=utf-8)?$|-src '|frame-ancestors|worker-src|\.css |^#`)
	letters = regexp.MustCompile(`[A-Za-z]{2,}`)
	// phrase is what a person reads: a word that begins a sentence, or words with a
	// space beside them.
	phrase = regexp.MustCompile(`\b[A-Z][a-z]+|[a-z]{2,} [a-z]{2,}|^[ ,;:]+[a-z]{2,}|[a-z]{2,}[ ,:]+$|…`)
)

// visible is what a person reads of a piece of HTML.
func visible(markup string) string {
	out := ""
	for _, m := range said.FindAllStringSubmatch(markup, -1) {
		out += m[1] + " "
	}
	if strings.ContainsAny(markup, "<>") {
		markup = tag.ReplaceAllString(markup, " ")
		markup = cutTag.ReplaceAllString(inTag.ReplaceAllString(markup, ""), "")
	}
	return out + pair.ReplaceAllString(verb.ReplaceAllString(markup, " "), " ")
}

// name is that of a called function or method, without its package.
func name(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// errors are the calls that make an error, or end a program.
var errorCalls = []string{"Errorf", "New", "panic", "Error", "MustCompile"}

// words finds what a person would read in the literals of a file.
func words(set *token.FileSet, file *ast.File) (out []string) {
	var above []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		above = append(above, n)
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err == nil && !slices.Contains(unread, text) && !named.MatchString(text) && read(above, text) {
			out = append(out, set.Position(lit.Pos()).String()+": "+lit.Value)
		}
		return true
	})
	return out
}

// read tells whether a literal is read by a person, from where it stands.
func read(above []ast.Node, text string) bool {
	strict := false
	for i := len(above) - 2; i >= 0; i-- {
		child := above[i+1]
		switch n := above[i].(type) {
		case *ast.ImportSpec, *ast.Field, *ast.IndexExpr:
			return false
		case *ast.CallExpr:
			if slices.Contains(errorCalls, name(n)) {
				return false
			}
			at := slices.IndexFunc(n.Args, func(a ast.Expr) bool { return ast.Node(a) == child })
			switch name(n) {
			case "text", "Text":
				return letters.MatchString(text)
			case "raw", "Raw", "WriteString", "Fprintf":
				return letters.MatchString(visible(text))
			case "el", "El":
				return at == 1 && letters.MatchString(text) || at > 2 && attribute(n.Args, at, 2) && letters.MatchString(text)
			case "open", "Open":
				return at > 1 && attribute(n.Args, at, 1) && letters.MatchString(text)
			}
			return phrase.MatchString(visible(text))
		case *ast.CompositeLit:
			if list, ok := n.Type.(*ast.ArrayType); ok && list.Len == nil {
				if kind, ok := list.Elt.(*ast.Ident); ok && kind.Name == "string" {
					return phrase.MatchString(text) // names of attributes, most of them
				}
			}
			strict = true
		case *ast.ReturnStmt:
			strict = true
		case *ast.BinaryExpr:
			if n.Op != token.ADD {
				return false // compared
			}
		case *ast.KeyValueExpr:
			if ast.Node(n.Key) == child {
				return false
			}
		case *ast.CaseClause:
			if slices.ContainsFunc(n.List, func(e ast.Expr) bool { return ast.Node(e) == child }) {
				return false
			}
		}
		if strict {
			return letters.MatchString(visible(text))
		}
	}
	return phrase.MatchString(visible(text))
}

// attribute tells whether an argument is the value of an attribute that is read.
func attribute(args []ast.Expr, at, first int) bool {
	if (at-first)%2 == 0 {
		return false
	}
	lit, ok := args[at-1].(*ast.BasicLit)
	return ok && slices.Contains([]string{`"aria-label"`, `"aria-valuetext"`, `"title"`, `"placeholder"`, `"alt"`}, lit.Value)
}

// TestWordsOfThePageStandHere: a word that a reader of the page sees or hears is
// in this room, unless another room says it on the command line too.
func TestWordsOfThePageStandHere(t *testing.T) {
	seen, set := 0, token.NewFileSet()
	for _, room := range rooms {
		for _, f := range files(t, set, room) {
			seen++
			for _, w := range words(set, f) {
				t.Errorf("%s: put it into report/texts", w)
			}
		}
	}
	if seen < 30 {
		t.Errorf("%d files: the test does not see them", seen)
	}
}

// The test sees what it has to.
func TestWordsAreSeen(t *testing.T) {
	for code, want := range map[string]int{
		"w.raw(`<h2>What was found</h2>`)":                              1,
		"w.raw(`<h2>` + texts.Found + `</h2><p class=\"note quiet\">`)": 0,
		"w.raw(`\" aria-label=\"The table\"><td>`)":                     1,
		"w.raw(` data-x=\"`, x, `\"><th scope=\"col\">stage</th>`)":     1,
		"w.raw(`<th scope=\"col\">`, x, `</th>`)":                       0,
		"w.text(\"none\")":                                                     1,
		"w.el(\"td\", \"none\", \"class\", \"num\")":                           1,
		"w.el(\"td\", x, \"title\", \"rank\", \"class\", \"wide open\")":       1,
		"w.open(\"td\", \"class\", \"num\", \"title\", \"Too few\")":           1,
		"s := \" of \" + x":                                                    1,
		"s := \"step-\" + x":                                                   0,
		"s := fmt.Sprintf(\"%d more\", n)":                                     1,
		"_ = fact{\"kind\", x}":                                                1,
		"_ = []fact{{\"kind\", x}, {texts.Kind, y}}":                           1,
		"_ = []string{\"class\", \"num\", \"data-step\"}":                      0,
		"err = fmt.Errorf(\"no part %q of a page\", x)":                        0,
		"if x == \"Not there\" { return }":                                     0,
		"switch x { case \"delta table\": return \"Delta table as a queue\" }": 1,
	} {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, "x.go", "package x\nfunc f() {\n"+code+"\n}", 0)
		if err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		if got := words(set, f); len(got) != want {
			t.Errorf("%s: %d words, not %d: %q", code, len(got), want, got)
		}
	}
}

// files parses those of a room, but for its tests.
func files(t *testing.T, set *token.FileSet, room string) (out []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(room, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// TestTextsAreNoMarkup: what is written as it is, and what is escaped, are the
// same, since only inline.go has what HTML would understand.
func TestTextsAreNoMarkup(t *testing.T) {
	set := token.NewFileSet()
	for _, f := range files(t, set, ".") {
		if set.Position(f.Pos()).Filename == "inline.go" {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && strings.ContainsAny(text, `<&"`) {
					t.Errorf("%s: %s has what HTML would understand", set.Position(lit.Pos()), lit.Value)
				}
			}
			return true
		})
	}
}

// TestTextsAreSaid: a text that nothing says would be translated for nobody.
func TestTextsAreSaid(t *testing.T) {
	set := token.NewFileSet()
	used, defined := map[string]bool{}, map[string]string{}
	for _, room := range append(rooms, ".") {
		for _, f := range files(t, set, room) {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "texts" {
						used[n.Sel.Name] = true
					}
				case *ast.FuncDecl:
					if room == "." {
						defined[n.Name.Name] = set.Position(n.Pos()).String()
					}
				case *ast.ValueSpec:
					if room == "." {
						for _, name := range n.Names {
							defined[name.Name] = set.Position(n.Pos()).String()
						}
					}
				case *ast.BinaryExpr, *ast.CallExpr, *ast.ReturnStmt: // of this room, in its sentences
					if room == "." {
						ast.Inspect(n, func(inner ast.Node) bool {
							if x, ok := inner.(*ast.Ident); ok {
								used[x.Name] = true
							}
							return true
						})
					}
				}
				return true
			})
		}
	}
	for name, where := range defined {
		if ast.IsExported(name) && !used[name] {
			t.Errorf("%s: nothing says %s", where, name)
		}
	}
	if len(defined) < 200 {
		t.Errorf("%d texts", len(defined))
	}
}
