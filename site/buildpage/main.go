// Command buildpage builds the page's analyzer: the module in wasm/, compressed,
// and the loader of the very Go release that compiled it, since a loader of
// another release does not start it. Both are written together with their
// hashes, and the same sources and the same Go give the same bytes.
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

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "buildpage:", err)
		os.Exit(1)
	}
}

// notInlined are packages that a page calls a few times for each view: calls that
// are inlined there cost bytes to download, and save no time that anyone sees.
var notInlined = []string{
	"queuebench/report/...", "queuebench/analysis/compare", "queuebench/figure",
	"encoding/json", "image/png", "golang.org/x/image/...", "gonum.org/v1/plot/...", "time", "net/url",
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

	raw := filepath.Join(tmp, "analyze.wasm")
	args := []string{"build", "-tags", "minimal", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid="}
	for _, pattern := range notInlined {
		args = append(args, "-gcflags="+pattern+"=-l")
	}
	build := exec.Command(gocmd(), append(args, "-o", raw, ".")...)
	build.Dir = filepath.Join(root, "wasm")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWORK=off")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the module in wasm/: %w", err)
	}
	wasm, err := os.ReadFile(raw)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(wasm); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}

	env := exec.Command(gocmd(), "env", "GOROOT", "GOVERSION")
	env.Dir = build.Dir
	answer, err := env.Output()
	if err != nil {
		return fmt.Errorf("asking go for its root: %w", err)
	}
	goroot, version, _ := strings.Cut(strings.TrimSpace(string(answer)), "\n")
	loader, err := os.ReadFile(filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return fmt.Errorf("the loader of %s: %w", version, err)
	}

	record, err := json.MarshalIndent(map[string]any{
		"go": version, "raw_bytes": len(wasm), "gzip_bytes": packed.Len(),
		"analyze.wasm.gz": sum(packed.Bytes()), "wasm_exec.js": sum(loader),
	}, "", "  ")
	if err != nil {
		return err
	}
	// The hashes last: a build that is cut short does not match its files.
	for _, f := range []struct {
		name string
		data []byte
	}{{"analyze.wasm.gz", packed.Bytes()}, {"wasm_exec.js", loader}, {"build.json", append(record, '\n')}} {
		if err := replace(filepath.Join(out, f.name), f.data); err != nil {
			return err
		}
	}
	fmt.Printf("site/built: analyzer of %s, %d bytes, %d gzipped\n", version, len(wasm), packed.Len())
	return nil
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
