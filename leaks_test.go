package queuebench_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// watchedElsewhere are rooms that start goroutines and whose own tests do not look for
// those that are left, with the reason.
var watchedElsewhere = map[string]string{
	"runner/tailing":       "it has no tests but those of runner",
	"internal/kafkabroker": "a part of the tests of other rooms, which look",
	"queue/queuetest":      "a part of the tests of other rooms, which look",
}

// A room that starts goroutines looks for those that its tests leave behind.
func TestRoomsThatStartGoroutinesLookForLeaks(t *testing.T) {
	starts, looks := map[string]string{}, map[string]bool{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case "testdata", "wasm", "interop", "examples", "node_modules", ".git", ".tools", "bin", "dist", "demo":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		room, tests := filepath.ToSlash(filepath.Dir(path)), strings.HasSuffix(path, "_test.go")
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				if !tests {
					starts[room] = fset.Position(n.Pos()).String()
				}
			case *ast.CallExpr:
				f, ok := n.Fun.(*ast.SelectorExpr)
				switch {
				case !ok:
				case f.Sel.Name == "Go" && !tests: // sync.WaitGroup and its kin
					starts[room] = fset.Position(n.Pos()).String()
				case f.Sel.Name == "VerifyTestMain" && tests:
					looks[room] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(starts) < 10 {
		t.Errorf("%d rooms start goroutines: this test no longer finds them", len(starts))
	}
	for room, where := range starts {
		if !looks[room] && watchedElsewhere[room] == "" {
			t.Errorf("%s starts a goroutine, and no test of %s looks for what is left: call goleak.VerifyTestMain in its TestMain", where, room)
		}
	}
	for room := range watchedElsewhere {
		if starts[room] == "" || looks[room] {
			t.Errorf("%s needs no exception any more", room)
		}
	}
}
