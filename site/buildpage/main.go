// Command buildpage builds the page's programs: those of the module in wasm/,
// compressed, and the loader of the very Go release that compiled them, since a
// loader of another release does not start them. All are written together with
// their hashes, and the same sources and the same Go give the same bytes.
//
// Usage, in the root of the module: go run ./site/buildpage
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs are those of the page: the one that draws, and the one that reads raw
// logs and files of other tools, which most readers never need. In the packages
// of plain no call is inlined, but for those of fast.
var programs = []struct {
	name, dir   string
	plain, fast []string
}{
	{"analyze", ".", []string{"all"}, []string{"runtime/...", "internal/runtime/...", "internal/abi", "math/...", "queuebench/stats/..."}},
	{"intake", "./intake", texts, nil},
}

// texts are packages that write text or are called rarely. Without inlined calls
// in them a program is some 6 % smaller; in all packages it is 10 %, but reading
// rows and adding up histograms are slower.
var texts = []string{
	"queuebench/importer", "queuebench/intake/...", "queuebench/internal/...",
	"context", "crypto/...", "encoding/csv", "encoding/json", "fmt", "internal/bisect", "internal/fmtsort", "internal/godebug",
	"internal/poll", "internal/reflectlite", "internal/strconv", "io/fs", "log", "net/...", "os", "path/...", "reflect", "regexp/...", "sort", "strconv", "strings", "time", "unique",
}

// built is a file of site/built.
type built struct {
	name string
	data []byte
}

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "buildpage:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	out := filepath.Join(root, "site", "built")
	if _, err := os.Stat(filepath.Join(out, "README")); err != nil {
		return fmt.Errorf("run it in the root of the module: %w", err)
	}
	tmp, err := os.MkdirTemp("", "buildpage-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)

	record := map[string]any{}
	var files []built
	for _, p := range programs {
		raw := filepath.Join(tmp, p.name+".wasm")
		args := []string{"build", "-tags", "minimal", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", raw}
		for _, packages := range p.plain {
			args = append(args, "-gcflags="+packages+"=-l")
		}
		for _, packages := range p.fast {
			args = append(args, "-gcflags="+packages+"=")
		}
		build := exec.Command(gocmd(), append(args, p.dir)...)
		build.Dir = filepath.Join(root, "wasm")
		build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWORK=off")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("building %s of the module in wasm/: %w", p.name, err)
		}
		wasm, err := os.ReadFile(raw)
		if err != nil {
			return err
		}
		packed, err := pack(wasm)
		if err != nil {
			return err
		}
		fmt.Printf("site/built: %s, %d bytes, %d gzipped\n", p.name, len(wasm), len(packed))
		files = append(files, built{p.name + ".wasm.gz", packed})
	}

	env := exec.Command(gocmd(), "env", "GOROOT", "GOVERSION")
	env.Dir = filepath.Join(root, "wasm")
	answer, err := env.Output()
	if err != nil {
		return fmt.Errorf("asking go for its root: %w", err)
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(string(answer)), "\n")
	loader, err := os.ReadFile(filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("the loader of %s: %w", version, err)
	}

	files = append(files, built{"wasm_exec.js", loader})
	record["go"] = version
	for _, f := range files {
		record[f.name] = sum(f.data)
	}
	text, err := json.MarshalIndent(record, "", "  ")
	if err != nil {
		return err
	}
	// The hashes last: a build that is cut short does not match its files.
	for _, f := range append(files, built{"build.json", append(text, '\n')}) {
		if err := replace(filepath.Join(out, f.name), f.data); err != nil {
			return err
		}
	}
	return nil
}

// pack compresses for hosts and files that cannot do it themselves.
func pack(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return packed.Bytes(), err
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func replace(path string, data []byte) error {
	if err := os.WriteFile(path+".new", data, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// gocmd is the go command that runs this program, so that the two agree.
func gocmd() string {
	if g := os.Getenv("GO"); g != "" {
		return g
	}
	return "go"
}
