package site

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"queuebench/analysis"
	"queuebench/report"
)

// ListSchema is the schema of runs.json.
const ListSchema = "queuebench.site/1"

// List is runs.json: what the site holds.
type List struct {
	Schema string  `json:"schema"`
	Runs   []Entry `json:"runs"`
}

// Entry is a run of the site, with what its list shows.
type Entry struct {
	Run       string      `json:"run"`
	File      string      `json:"file"`           // below the site: runs/….digest.gz
	Page      string      `json:"page,omitempty"` // the same without scripts: runs/….html
	Queue     string      `json:"queue"`
	StartedNs int64       `json:"started_ns"`
	Complete  bool        `json:"complete"`
	Steps     []EntryStep `json:"steps"`
}

// EntryStep is a step's end-to-end latency under the default view, as text and as
// numbers; these are 0 where the text is a dash or no finite latency.
type EntryStep struct {
	Rate     string  `json:"rate"`
	P50      string  `json:"p50"`
	P99      string  `json:"p99"`
	RatePerS float64 `json:"rate_per_s,omitempty"`
	P50Ns    int64   `json:"p50_ns,omitempty"`
	P99Ns    int64   `json:"p99_ns,omitempty"`
}

const siteCSP = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"worker-src 'self' blob:; connect-src 'self' https: http://127.0.0.1:* http://localhost:*; object-src 'none'; base-uri 'none'; form-action 'none'"

// WriteSite writes the page into a folder, with the digests beside it, and adds
// them to the runs that are there already. Every file is replaced as a whole,
// the list after the runs that it names, so that a reader never sees half a
// site. The error wraps ErrNoWASM in a program without the page's analyzer.
func WriteSite(dir string, digests []*analysis.Digest) error {
	a, err := loadAnalyzer()
	if err != nil {
		return err
	}
	list, err := readList(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "runs"), 0o777); err != nil {
		return fmt.Errorf("the site's folder: %w", err)
	}
	files := map[string][]byte{
		"page.css": []byte(styles()), "analyze.wasm.gz": a.wasm, "intake.wasm.gz": a.intake, "wasm_exec.js": a.loader,
	}
	for _, name := range []string{"worker.js", "analyzer.js", "texts.js", "export.js", "plot.js", "view.js", "opening.js", "site.js", "list.js"} {
		files[name] = []byte(asset(name))
	}
	for _, d := range digests {
		d, err := d.Fit(analysis.PageBytes)
		if err != nil {
			return err
		}
		e, err := entry(d)
		if err != nil {
			return err
		}
		if files[e.File], err = packDigest(d); err != nil {
			return err
		}
		var page bytes.Buffer
		if err := WriteReport(&page, d, analysis.View{}, Options{Light: true, site: e.File}); err != nil {
			return err
		}
		files[e.Page] = page.Bytes()
		list.Runs = slices.DeleteFunc(list.Runs, func(o Entry) bool { return o.Run == e.Run })
		list.Runs = append(list.Runs, e)
	}
	slices.SortStableFunc(list.Runs, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.StartedNs, a.StartedNs), cmp.Compare(a.Run, b.Run))
	})
	for name, data := range files {
		if err := replace(filepath.Join(dir, filepath.FromSlash(name)), data); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(dir, "runs.json"), append(text, '\n')); err != nil {
		return err
	}
	return replace(filepath.Join(dir, "index.html"), []byte(index(list)))
}

func readList(dir string) (List, error) {
	list := List{Schema: ListSchema, Runs: []Entry{}}
	path := filepath.Join(dir, "runs.json")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return list, fmt.Errorf("the site's list of runs: %w", err)
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return list, fmt.Errorf("%s is not a site's list of runs (%w): choose another folder, or remove it", path, err)
	}
	if list.Schema != ListSchema {
		return list, fmt.Errorf("%s has the schema %q, this program writes %q: choose another folder", path, list.Schema, ListSchema)
	}
	return list, nil
}

func entry(d *analysis.Digest) (Entry, error) {
	doc, err := report.Build(d, analysis.View{}, report.Options{})
	if err != nil {
		return Entry{}, fmt.Errorf("run %s: %w", d.Manifest.Run, err)
	}
	place := "runs/" + SafeID(d.Manifest.Run)
	e := Entry{
		Run: d.Manifest.Run, File: place + ".digest.gz", Page: place + ".html", Queue: queueText(d),
		StartedNs: d.Manifest.StartedNs, Complete: d.Manifest.Complete, Steps: []EntryStep{},
	}
	for _, s := range doc.Summary.Steps {
		st := EntryStep{Rate: analysis.FormatRate(s.Rate), RatePerS: s.Rate, P50: analysis.Dash, P99: analysis.Dash}
		if l := s.Latencies[s.MainKind().String()]; l.N > 0 {
			p50, p99 := l.Percentiles["50"], l.Percentiles["99"]
			st.P50, st.P99 = p50.Text(), p99.Text()
			st.P50Ns, st.P99Ns = finite(p50), finite(p99)
		}
		e.Steps = append(e.Steps, st)
	}
	return e, nil
}

// finite is a percentile that can be drawn; 0 where it is shown as a dash, or
// falls on a message that never came.
func finite(p analysis.Percentile) int64 {
	if p.Beyond || p.Text() == analysis.Dash {
		return 0
	}
	return p.Ns
}

// queueText tells runs apart that differ in the commit interval alone.
func queueText(d *analysis.Digest) string {
	q := d.Manifest.Queue
	if q.CommitInterval <= 0 {
		return q.Kind
	}
	return q.Kind + ", commits every " + q.CommitInterval.String()
}

// SafeID is a run's name as the name of a file and part of an address: what is
// not a letter, a digit, a dot, a dash or an underscore becomes a dash, and a
// name that had to change gets a hash, so that no two names meet.
func SafeID(run string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, run)
	safe = strings.Trim(safe[:min(len(safe), 80)], ".-")
	if safe == run && safe != "" {
		return safe
	}
	h := sha256.Sum256([]byte(run))
	return strings.TrimLeft(safe+"-"+hex.EncodeToString(h[:4]), "-")
}

// replace writes a file beside its place and moves it there.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return fmt.Errorf("the site's folder: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
