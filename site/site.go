// Package site makes the pages that people pass on: one HTML file with a run in
// it, or a folder that any static host serves, with the runs beside the page.
//
// The page's files are plain HTML, CSS and JavaScript modules, embedded as they
// are; there is no bundler. The page decides nothing: package report, compiled
// to WebAssembly, reads its address and writes what it shows. The pages ask
// nobody else for anything, and refuse by their Content Security Policy to try.
package site

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"queuebench/figure"
)

//go:embed assets
var assets embed.FS

//go:embed built
var built embed.FS

// ErrNoWASM: the analyzer for the page was not built into this program.
var ErrNoWASM = errors.New("the page's analyzer is not built in: run `make page` and build again, or make a light report, which goes without it")

// analyzer is the page's programs.
type analyzer struct {
	wasm   []byte // the one that draws; gzip
	intake []byte // the one that makes digests; gzip
	loader []byte // wasm_exec.js of the same Go release
}

// loadAnalyzer returns the embedded program, or an error that wraps ErrNoWASM.
func loadAnalyzer() (analyzer, error) {
	record, err := built.ReadFile("built/build.json")
	if err != nil {
		return analyzer{}, ErrNoWASM
	}
	var hashes struct {
		WASM   string `json:"analyze.wasm.gz"`
		Intake string `json:"intake.wasm.gz"`
		Loader string `json:"wasm_exec.js"`
	}
	if err := json.Unmarshal(record, &hashes); err != nil {
		return analyzer{}, fmt.Errorf("site/built/build.json: %v: %w", err, ErrNoWASM)
	}
	var a analyzer
	for _, f := range []struct {
		name, hash string
		into       *[]byte
	}{{"analyze.wasm.gz", hashes.WASM, &a.wasm}, {"intake.wasm.gz", hashes.Intake, &a.intake}, {"wasm_exec.js", hashes.Loader, &a.loader}} {
		b, err := built.ReadFile("built/" + f.name)
		if err != nil {
			return analyzer{}, ErrNoWASM
		}
		if h := sha256.Sum256(b); hex.EncodeToString(h[:]) != f.hash {
			return analyzer{}, fmt.Errorf("site/built/%s is not the one that build.json names: %w", f.name, ErrNoWASM)
		}
		*f.into = b
	}
	return a, nil
}

// asset is an embedded file. One that is missing is a broken build.
func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic("site: " + err.Error())
	}
	return string(b)
}

// styles is the page's style sheet with the colours of the figures in it.
func styles() string {
	return strings.NewReplacer(
		"/*figure-light*/", figure.Variables(figure.Light),
		"/*figure-dark*/", figure.Variables(figure.Dark),
	).Replace(asset("page.css") + asset("comparison.css") + asset("list.css") + asset("opened.css"))
}
