package site

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"queuebench/analysis"
	"queuebench/report/reporttest"
)

// Each file of the page is named after its content, all that is named is there,
// and nothing else is.
func TestPageNamesItsFilesByTheirContent(t *testing.T) {
	needAnalyzer(t)
	files, logs, err := Files([]*analysis.Digest{digest("one"), digest(reporttest.HostileName)})
	if err != nil || len(logs) != 2 || logs[0] != "runs/one.digest.gz" {
		t.Fatal(logs, err)
	}
	named := map[string]bool{"index.html": true, "runs.json": true}
	link := regexp.MustCompile(`(?:src|href|data-[a-z]+)="((?:static|runs)/[^"]+)"| from "\./([^"]+)"`)
	for name, data := range files {
		if kind := filepath.Ext(name); kind != ".html" && kind != ".js" || strings.HasPrefix(name, "runs/") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if m[1] == "" {
				m[1] = "static/" + m[2]
			}
			if files[m[1]] == nil && !slices.Contains(logs, m[1]) {
				t.Errorf("%s names %s, which is not there", name, m[1])
			}
			named[m[1]] = true
		}
	}
	hash := regexp.MustCompile(`[.-]([0-9a-f]{16})\.`)
	hashed := 0
	for name, data := range files {
		if !named[name] {
			t.Errorf("%s is named by nothing", name)
		}
		if m := hash.FindStringSubmatch(name); m != nil {
			hashed++
			if m[1] != contentHash(data) {
				t.Errorf("%s has the content %s", name, contentHash(data))
			}
			if !ours.MatchString(name) {
				t.Errorf("%s would never be taken away", name)
			}
		} else if strings.HasPrefix(name, "static/") {
			t.Errorf("%s is not named after its content", name)
		}
	}
	if hashed < 10 {
		t.Errorf("%d files are named after their content", hashed)
	}
	again, _, err := Files([]*analysis.Digest{digest("one"), digest(reporttest.HostileName)})
	if err != nil || len(again) != len(files) {
		t.Errorf("%d and %d files, %v", len(files), len(again), err)
	}
}

// The same name twice: the same run is there once, others are apart or refused.
func TestRunsOfOneName(t *testing.T) {
	needAnalyzer(t)
	other := reporttest.Digest(reporttest.Spec{Run: "one", Rates: []float64{700}, Duration: 5e9})
	_, logs, err := Files([]*analysis.Digest{digest("one"), other, digest("one")})
	if err != nil || strings.Join(logs, " ") != "runs/one.digest.gz runs/one-2.digest.gz runs/one.digest.gz" {
		t.Error(logs, err)
	}
	if err := WriteSite(t.TempDir(), []*analysis.Digest{digest("one"), other}); err == nil || !strings.Contains(err.Error(), `"one"`) {
		t.Errorf("two runs of one name in a folder: %v", err)
	}
}

// older writes a site as the version before wrote it.
func older(t *testing.T, runs ...string) string {
	t.Helper()
	dir := t.TempDir()
	list := List{Schema: ListSchema}
	if err := os.Mkdir(filepath.Join(dir, "runs"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		d := digest(run)
		e, err := entry(d, "runs/"+SafeID(run), "")
		if err != nil {
			t.Fatal(err)
		}
		e.Log, e.File = "", Address(run)
		packed, err := packDigest(d)
		if err != nil {
			t.Fatal(err)
		}
		list.Runs = append(list.Runs, e)
		if err := errors.Join(os.WriteFile(filepath.Join(dir, e.File), packed, 0o666), os.WriteFile(filepath.Join(dir, e.Page), []byte("<p>"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := list.json()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"runs.json": string(text), "index.html": "<p>old", "notes.txt": "mine"}
	for _, name := range unhashed {
		files[name] = "old"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	return err == nil
}

// A folder of the version before gains runs, and what addresses said before is
// what they say now, whether the run was added again or not.
func TestFolderOfAnOlderVersion(t *testing.T) {
	needAnalyzer(t)
	dir := older(t, "one", "two")
	if err := WriteSite(dir, []*analysis.Digest{digest("three"), digest("two")}); err != nil {
		t.Fatal(err)
	}
	list, err := readList(dir)
	if err != nil || len(list.Runs) != 3 || len(list.Pages) != 2 {
		t.Fatal(list, err)
	}
	index, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list.Runs {
		if e.address() != Address(e.Run) || !exists(dir, e.File) || !exists(dir, e.Page) {
			t.Errorf("%+v", e)
		}
		if !strings.Contains(string(index), `data-log="`+Address(e.Run)+`" data-file="`+e.File+`"`) || !strings.Contains(string(index), `href="#log=runs%2F`+SafeID(e.Run)+`.digest.gz"`) {
			t.Errorf("the page does not say where %s lies", e.Run)
		}
	}
	if !exists(dir, "runs/one.digest.gz") || exists(dir, "runs/two.digest.gz") {
		t.Error("the run that was added again has two digests, or the other one none")
	}
	if !exists(dir, "site.js") || !exists(dir, "notes.txt") {
		t.Error("what a reader may have open, or what is of somebody else, is gone")
	}
}

// Of the releases of the page that a folder has seen, the newest and the one
// before it stay; what a list names outside of the site is left alone.
func TestReleasesOfThePage(t *testing.T) {
	needAnalyzer(t)
	dir := older(t, "one")
	outside := filepath.Join(filepath.Dir(dir), "outside.js")
	if err := os.WriteFile(outside, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	release := func(names ...string) {
		t.Helper()
		list, err := readList(dir)
		if err != nil {
			t.Fatal(err)
		}
		list.Pages = slices.Insert(list.Pages, 0, names)
		text, err := list.json()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(names, "runs.json") {
			body := []byte("x")
			if name == "runs.json" {
				body = text
			} else if !strings.HasPrefix(name, "static/") {
				continue
			}
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, "static"), 0o777), os.WriteFile(filepath.Join(dir, name), body, 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteSite(dir, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteSite(dir, nil); err != nil || !exists(dir, "site.js") {
		t.Fatal(err)
	}
	release("static/site-0123456789abcdef.js", "../outside.js", "notes.txt", "index.html")
	if exists(dir, "site.js") || exists(dir, "analyze.wasm.gz") {
		t.Error("the page of two releases ago is still there")
	}
	if !exists(dir, "static/site-0123456789abcdef.js") {
		t.Error("the release before is gone")
	}
	release("static/site-fedcba9876543210.js")
	if exists(dir, "static/site-0123456789abcdef.js") || !exists(dir, "static/site-fedcba9876543210.js") {
		t.Error("of three releases the oldest is there, or the one before is not")
	}
	if body, err := os.ReadFile(outside); err != nil || string(body) != "mine" || !exists(dir, "notes.txt") || !exists(dir, "index.html") {
		t.Error("what a list names outside of the page was removed")
	}
	var list map[string]any
	text, err := os.ReadFile(filepath.Join(dir, "runs.json"))
	if err != nil || json.Unmarshal(text, &list) != nil || len(list["pages"].([]any)) != 2 {
		t.Errorf("runs.json: %s, %v", text, err)
	}
}
