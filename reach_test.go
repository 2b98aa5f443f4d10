//go:build reach

package queuebench_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"queuebench/internal/coverage"
)

// Each target of the table executes the body of its parser more often with its seeds
// than without one: what it makes up gets there, and not only what it makes up seeds
// with. See `make fuzz-reach`.
func TestTargetsReachTheirParsers(t *testing.T) {
	byRoom := map[string][]string{}
	for name, target := range parsers {
		if !strings.HasPrefix(target, "- ") {
			room := name[:strings.LastIndexByte(name, '.')]
			byRoom[room] = append(byRoom[room], name)
		}
	}
	program := filepath.Join(t.TempDir(), "tests")
	for _, room := range slices.Sorted(maps.Keys(byRoom)) {
		if err := coverage.Build(t.Context(), "./"+room, program); err != nil {
			t.Fatal(err)
		}
		byTarget := map[string][]string{}
		for _, name := range byRoom[room] {
			byTarget[parsers[name]] = append(byTarget[parsers[name]], name)
		}
		for _, target := range slices.Sorted(maps.Keys(byTarget)) {
			none, err := coverage.Run(t.Context(), program, room, "^"+target+"$/^no seed has this name$")
			if err != nil {
				t.Fatal(err)
			}
			all, err := coverage.Run(t.Context(), program, room, "^"+target+"$")
			if err != nil {
				t.Fatal(err)
			}
			more := all.Beyond(none)
			for _, name := range byTarget[target] {
				file, from, to := bodyOf(t, name)
				n := 0
				for _, block := range more {
					if f, line, ok := coverage.Place(block); ok && f == file && line >= from && line <= to {
						n++
					}
				}
				t.Logf("%s: %s executes %d blocks", name, target, n)
				if n == 0 {
					t.Errorf("%s.%s never executes %s with what it makes up", room, target, name)
				}
			}
		}
	}
}

// bodyOf is where a function of the table stands, as a profile names it.
func bodyOf(t *testing.T, name string) (file string, from, to int) {
	t.Helper()
	dot := strings.LastIndexByte(name, '.')
	room, function := name[:dot], name[dot+1:]
	files, err := filepath.Glob(filepath.Join(room, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == function && f.Body != nil {
				return "queuebench/" + filepath.ToSlash(path), set.Position(f.Body.Pos()).Line, set.Position(f.Body.End()).Line
			}
		}
	}
	t.Fatalf("there is no function %s", name)
	return "", 0, 0
}
