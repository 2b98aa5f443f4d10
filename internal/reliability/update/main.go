// Update writes the tables of docs/reliability.md from the results that tests left.
//
//	update          docs/reliability.jsonl, of which it keeps what is shown, → docs/reliability.md
//	update -tests   prints the rooms and tests that leave results, a line each
//
// It runs in the module's folder. See `make reliability`.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"queuebench/internal/reliability"
	"queuebench/internal/testfiles"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "update:", err)
		os.Exit(1)
	}
}

func run(stdout io.Writer, args []string) error {
	flags := flag.NewFlagSet("update", flag.ContinueOnError)
	flags.SetOutput(stdout)
	list := flags.Bool("tests", false, "print the rooms and tests that leave results")
	results := flags.String("results", "docs/reliability.jsonl", "file of results")
	document := flags.String("document", "docs/reliability.md", "document with the marks")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *list {
		return printTests(stdout, ".")
	}
	rows, err := reliability.Read(*results)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s holds no results: run `make reliability`", *results)
	}
	rows = reliability.Chosen(rows)
	shown, err := withTargets(rows, ".")
	if err != nil {
		return err
	}
	old, err := os.ReadFile(*document)
	if err != nil {
		return err
	}
	text, err := reliability.Document(string(old), shown)
	if err != nil {
		return fmt.Errorf("%s: %w", *document, err)
	}
	if err := reliability.Write(*results, rows); err != nil {
		return err
	}
	if text != string(old) {
		err = os.WriteFile(*document, []byte(text), 0o644)
	}
	fmt.Fprintf(stdout, "%d rows in %s\n", len(rows), *document)
	return err
}

// withTargets are the rows of all fuzz targets that the module has, also of those that
// were never run, and of no other, beside all other rows.
func withTargets(rows []reliability.Row, root string) ([]reliability.Row, error) {
	tried := map[string]reliability.Row{}
	var out []reliability.Row
	for _, r := range rows {
		if strings.HasPrefix(r.ID, "fuzz/") {
			tried[r.ID] = r
		} else {
			out = append(out, r)
		}
	}
	var fuzzed []reliability.Row
	err := testfiles.Each(root, func(room string, f *ast.FuncDecl) error {
		if strings.HasPrefix(f.Name.Name, "Fuzz") {
			name := strings.TrimPrefix(room, "./") + "." + f.Name.Name
			r, ok := tried["fuzz/"+name]
			if !ok {
				r = reliability.Row{ID: "fuzz/" + name, What: "`" + name + "`", Often: "never for a time that was noted"}
			}
			fuzzed = append(fuzzed, r)
		}
		return nil
	})
	slices.SortFunc(fuzzed, func(a, b reliability.Row) int { return strings.Compare(a.ID, b.ID) })
	return append(out, fuzzed...), err
}

// printTests prints lines of a room, and its tests with bars between.
func printTests(stdout io.Writer, root string) error {
	tests, err := testsThatTry(root)
	if err != nil {
		return err
	}
	for _, room := range slices.Sorted(maps.Keys(tests)) {
		slices.Sort(tests[room])
		fmt.Fprintln(stdout, room, strings.Join(slices.Compact(tests[room]), "|"))
	}
	return nil
}

// testsThatTry are the tests that call reliability.Try, by room.
func testsThatTry(root string) (map[string][]string, error) {
	found := map[string][]string{}
	err := testfiles.Each(root, func(room string, f *ast.FuncDecl) error {
		switch {
		case !tries(f.Body):
		case !strings.HasPrefix(f.Name.Name, "Test"):
			return fmt.Errorf("%s: %s calls reliability.Try and is no test: call it in the test, so that it is found", room, f.Name.Name)
		default:
			found[room] = append(found[room], f.Name.Name)
		}
		return nil
	})
	return found, err
}

func tries(body ast.Node) (yes bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Try" {
			if p, ok := s.X.(*ast.Ident); ok && p.Name == "reliability" {
				yes = true
			}
		}
		return !yes
	})
	return yes
}
