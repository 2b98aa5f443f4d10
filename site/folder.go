package site

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	File      string      `json:"file"` // below the site: runs/….digest.gz
	Queue     string      `json:"queue"`
	StartedNs int64       `json:"started_ns"`
	Complete  bool        `json:"complete"`
	Steps     []EntryStep `json:"steps"`
}

// EntryStep is a step's end-to-end latency under the default view, as text.
type EntryStep struct {
	Rate string `json:"rate"`
	P50  string `json:"p50"`
	P99  string `json:"p99"`
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
		"page.css": []byte(styles()), "analyze.wasm.gz": a.wasm, "wasm_exec.js": a.loader,
	}
	for _, name := range []string{"worker.js", "analyzer.js", "texts.js", "plot.js", "view.js", "site.js"} {
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
	e := Entry{
		Run: d.Manifest.Run, File: "runs/" + SafeID(d.Manifest.Run) + ".digest.gz", Queue: queueText(d),
		StartedNs: d.Manifest.StartedNs, Complete: d.Manifest.Complete, Steps: []EntryStep{},
	}
	for _, s := range doc.Summary.Steps {
		st := EntryStep{Rate: analysis.FormatRate(s.Rate), P50: analysis.Dash, P99: analysis.Dash}
		if l := s.Latencies[s.MainKind().String()]; l.N > 0 {
			st.P50, st.P99 = l.Percentiles["50"].Text(), l.Percentiles["99"].Text()
		}
		e.Steps = append(e.Steps, st)
	}
	return e, nil
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

// index is the page of a site.
func index(list List) string {
	var p page
	p.head("Queuebench: runs", siteCSP, `<link rel="stylesheet" href="page.css">`)
	p.top(`<a href="./">Queuebench</a>`, `<a id="all-runs" href="./" hidden>All runs</a>`)
	p.WriteString(`<main id="main">
<p id="page-error" class="error" role="alert" hidden></p>
<div id="loading" class="loading" role="status" hidden><p id="loading-text"></p><progress id="loading-bar" max="1" aria-label="Progress"></progress></div>
<ul id="opened" class="opened" hidden></ul>
<section id="run-list"><h1 class="run">Runs</h1>
<noscript><p class="error">Opening a run needs scripts and WebAssembly in this browser. A file made by <code>analyze report</code> can be read without.</p></noscript>
`)
	if len(list.Runs) == 0 {
		p.WriteString("<p>No run has been added yet: <code>analyze site RUN --out DIR</code> adds one.</p>\n")
	}
	p.WriteString("<ul class=\"runs\">\n")
	for _, e := range list.Runs {
		p.WriteString(`<li><a href="#log=` + html.EscapeString(url.QueryEscape(e.File)) + `"><span class="name">` + html.EscapeString(e.Run) + `</span>`)
		when := ""
		if e.StartedNs > 0 {
			when = time.Unix(0, e.StartedNs).UTC().Format("2006-01-02 15:04 UTC")
		}
		p.WriteString(`<span class="when">` + when + `</span><span class="what">` + html.EscapeString(e.Queue))
		if !e.Complete {
			p.WriteString(", incomplete")
		}
		p.WriteString(`</span><span class="numbers">`)
		for i, s := range e.Steps {
			if i == 6 {
				fmt.Fprintf(&p, "<span>and %d more steps</span>", len(e.Steps)-i)
				break
			}
			p.WriteString("<span>" + html.EscapeString(s.Rate+" msg/s: p50 "+s.P50+", p99 "+s.P99) + "</span>")
		}
		p.WriteString("</span></a></li>\n")
	}
	p.WriteString("</ul></section>\n<div id=\"controls-holder\" class=\"controls-holder\" hidden></div>\n</main>\n")
	p.foot("Runs are read and computed in this browser; nothing is uploaded.")
	p.WriteString("<script type=\"module\" src=\"site.js\"></script>\n</body>\n</html>\n")
	return p.String()
}
