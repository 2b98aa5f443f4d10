// Package testfiles walks the test functions of the module, for programs that run
// some of them.
//
// It sees what `go test ./...` would see: no file behind a build tag, no module that
// is nested, no testdata. It refuses to know what a function does.
package testfiles

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Each calls visit for each function of a test file below root, with its room: ".",
// or "./" and the folder with slashes. It ends at the first error.
func Each(root string, visit func(room string, f *ast.FuncDecl) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || isModule(path)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		dir, name := filepath.Dir(path), filepath.Base(path)
		if built, err := build.Default.MatchFile(dir, name); err != nil || !built {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		room, err := filepath.Rel(root, dir)
		if err != nil {
			return err
		}
		if room != "." {
			room = "./" + filepath.ToSlash(room)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Body != nil {
				if err := visit(room, f); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return !errors.Is(err, fs.ErrNotExist)
}
