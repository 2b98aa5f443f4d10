package site

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ListSchema is the schema of runs.json.
const ListSchema = "queuebench.site/1"

// List is runs.json: what the site holds.
type List struct {
	Schema string  `json:"schema"`
	Runs   []Entry `json:"runs"`
	// Pages are the releases of the page whose files lie below static/, the one
	// that index.html names first. The one before stays, since a reader may have
	// it open.
	Pages [][]string `json:"pages,omitempty"`
}

// Entry is a run of the site, with what its list shows.
type Entry struct {
	Run string `json:"run"`
	// Log is what addresses say: runs/….digest.gz, which stays the same when the
	// run is added again. Empty in a list of an older version, where it is File.
	Log string `json:"log,omitempty"`
	// File is what there is below the site, named after its content.
	File      string      `json:"file"`
	Page      string      `json:"page,omitempty"` // the same without scripts: runs/….html
	Queue     string      `json:"queue"`
	StartedNs int64       `json:"started_ns"`
	Complete  bool        `json:"complete"`
	Steps     []EntryStep `json:"steps"`
}

// address is the run's place as the page's fragment names it.
func (e *Entry) address() string { return cmp.Or(e.Log, e.File) }

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

// unhashed are the files of the page of a site that was written before they were
// named after their content.
var unhashed = strings.Fields("page.css analyze.wasm.gz intake.wasm.gz wasm_exec.js worker.js analyzer.js texts.js export.js plot.js view.js opening.js site.js list.js")

// ours are the names that a site gives to digests and to files of the page. What
// a list names otherwise is never removed: it may have been written by others.
var ours = regexp.MustCompile(`^(runs/[A-Za-z0-9_][A-Za-z0-9._-]*\.digest\.gz|static/[a-z_]+-[0-9a-f]{16}(\.[a-z]+){1,2})$`)

// removable says that a file may be taken away when a site no longer names it.
func removable(name string) bool { return ours.MatchString(name) || slices.Contains(unhashed, name) }

// legacy is the page of a folder that an older version wrote, as its only
// release; none where there is no such page.
func legacy(root *os.Root) [][]string {
	var names []string
	for _, name := range unhashed {
		if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	if len(names) < len(unhashed)/2 {
		return nil // of somebody else
	}
	return [][]string{names}
}

// add puts runs in the place of those of the same name, the newest first, and
// returns the digests that the list no longer names.
func (l *List) add(runs []run) (old []string) {
	for _, r := range runs {
		l.Runs = slices.DeleteFunc(l.Runs, func(o Entry) bool {
			same := o.Run == r.Run && (o.Log == "" || o.Log == r.Log)
			if same && o.File != r.File && ours.MatchString(o.File) {
				old = append(old, o.File)
			}
			return same
		})
		l.Runs = append(l.Runs, r.Entry)
	}
	slices.SortStableFunc(l.Runs, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.StartedNs, a.StartedNs), cmp.Compare(a.Run, b.Run))
	})
	return old
}

// turn puts a release of the page before those that are there, keeps one of
// them, and returns the files that only others had.
func (l *List) turn(files []string) (old []string) {
	l.Pages = slices.DeleteFunc(l.Pages, func(o []string) bool { return slices.Equal(o, files) })
	l.Pages = slices.Insert(l.Pages, 0, files)
	const kept = 2
	for _, page := range l.Pages[min(kept, len(l.Pages)):] {
		for _, name := range page {
			used := slices.ContainsFunc(l.Pages[:kept], func(o []string) bool { return slices.Contains(o, name) })
			if !used && removable(name) {
				old = append(old, name)
			}
		}
	}
	l.Pages = l.Pages[:min(kept, len(l.Pages))]
	return old
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

func (l *List) json() ([]byte, error) {
	text, err := json.MarshalIndent(l, "", "  ")
	return append(text, '\n'), err
}

// write writes the list and the page that shows it, which names all others.
func (l *List) write(root *os.Root, s *static) error {
	text, err := l.json()
	if err != nil {
		return err
	}
	if err := replace(root, "runs.json", text); err != nil {
		return err
	}
	return replace(root, "index.html", []byte(index(*l, s)))
}
