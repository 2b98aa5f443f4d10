package site

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// static is what every site has below static/: the page's code, its styles and
// its programs. Each file is named after its content, so that a cache may keep
// it for ever, and the page that names them is all that has to be asked for
// again: a reader never has code of one release and a program of another.
type static struct {
	files                          map[string][]byte
	style, worker, analyze, intake string
	modules                        []string // what imports nothing unknown first
	entries                        []string // the modules that the page starts
}

// hashDigits are those of a content hash in a name: 64 bits of SHA-256.
const hashDigits = 16

// contentHash is the part of a file's name that says what is in it.
func contentHash(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])[:hashDigits]
}

// add names a file after its content and keeps it.
func (s *static) add(name string, data []byte) string {
	stem, kind, _ := strings.Cut(name, ".")
	name = "static/" + stem + "-" + contentHash(data) + "." + kind
	s.files[name] = data
	return name
}

// newStatic makes the files of this program's page.
func newStatic() (*static, error) {
	a, err := loadAnalyzer()
	if err != nil {
		return nil, err
	}
	worker, err := workerScript(a)
	if err != nil {
		return nil, err
	}
	s := &static{files: map[string][]byte{}}
	s.style = s.add("page.css", []byte(styles()))
	s.worker = s.add("worker.js", []byte(worker))
	s.analyze, s.intake = s.add("analyze.wasm.gz", a.wasm), s.add("intake.wasm.gz", a.intake)

	entries := []string{"site.js", "list.js"}
	names, err := closure(entries...)
	if err != nil {
		return nil, err
	}
	named := map[string]string{} // the module's own name → that in the site
	for _, name := range names {
		text, err := renameImports(name, named)
		if err != nil {
			return nil, err
		}
		named[name] = s.add(name, []byte(text))
		s.modules = append(s.modules, named[name])
	}
	for _, name := range entries {
		s.entries = append(s.entries, named[name])
	}
	return s, nil
}

// generation are the names of all files, in order.
func (s *static) generation() []string { return slices.Sorted(maps.Keys(s.files)) }

// imported is the module that a line imports: the one form that the assets use.
func imported(line string) (name string, ok bool) {
	_, from, ok := strings.Cut(strings.TrimSpace(line), ` from "./`)
	if !ok || !strings.HasPrefix(line, "import {") {
		return "", false
	}
	return strings.CutSuffix(from, `";`)
}

// closure are modules with all that they import, each after those.
func closure(entries ...string) (order []string, err error) {
	var visit func(name string, above []string) error
	visit = func(name string, above []string) error {
		if slices.Contains(order, name) {
			return nil
		}
		if slices.Contains(above, name) {
			return fmt.Errorf("site/assets/%s imports itself by way of %s", name, strings.Join(above, ", "))
		}
		for line := range strings.Lines(asset(name)) {
			if other, ok := imported(line); ok {
				if err := visit(other, append(above, name)); err != nil {
					return err
				}
			}
		}
		order = append(order, name)
		return nil
	}
	for _, name := range entries {
		if err := visit(name, nil); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// renameImports is a module that imports others by their names in the site.
func renameImports(name string, named map[string]string) (string, error) {
	var b strings.Builder
	for line := range strings.Lines(asset(name)) {
		other, ok := imported(line)
		switch {
		case ok && named[other] == "":
			return "", fmt.Errorf("site/assets/%s imports %s before it has a name", name, other)
		case ok:
			line = strings.Replace(line, "./"+other, "./"+strings.TrimPrefix(named[other], "static/"), 1)
		case strings.HasPrefix(line, "import"):
			return "", fmt.Errorf("site/assets/%s: a form of import that is not known: %s", name, strings.TrimSpace(line))
		}
		b.WriteString(line)
	}
	return b.String(), nil
}

// workerScript is all that a worker of the page needs beside its program: the
// loader of the Go release that built it, what is said to people, and worker.js.
func workerScript(a analyzer) (string, error) {
	texts, err := plain("texts.js")
	return string(a.loader) + "\n" + texts + asset("worker.js"), err
}

// plain is a module without its imports and exports, for a place where all that
// it imports stands before it. It knows one form of each, the one that the
// assets use.
func plain(name string) (string, error) {
	var b strings.Builder
	for line := range strings.Lines(asset(name)) {
		if _, ok := imported(line); ok {
			continue
		}
		for _, kind := range []string{"class ", "const ", "function "} {
			if strings.HasPrefix(line, "export "+kind) {
				line = strings.TrimPrefix(line, "export ")
			}
		}
		if strings.HasPrefix(line, "import") || strings.HasPrefix(line, "export") {
			return "", fmt.Errorf("site/assets/%s: a form of import or export that cannot be put into one file: %s", name, strings.TrimSpace(line))
		}
		b.WriteString(line)
	}
	return b.String(), nil
}

// inline puts a module and all that it imports into one script.
func inline(entry string) (string, error) {
	names, err := closure(entry)
	if err != nil {
		return "", err
	}
	s := "\n"
	for _, name := range names {
		text, err := plain(name)
		if err != nil {
			return "", err
		}
		s += text
	}
	if strings.Contains(s, "</script") || strings.Contains(s, "<!--") {
		return "", fmt.Errorf("the page's script would end its own element")
	}
	return s, nil
}
