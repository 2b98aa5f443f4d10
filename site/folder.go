package site

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"queuebench/analysis"
	"queuebench/report"
	"queuebench/report/texts"
)

const siteCSP = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
	"worker-src 'self' blob:; connect-src 'self' https: http://127.0.0.1:* http://localhost:*; object-src 'none'; base-uri 'none'; form-action 'none'"

// WriteSite writes the page into a folder, with the digests beside it, and adds
// them to the runs that are there already, also of a folder that an older
// version wrote. Every file is replaced as a whole, the list after the runs that
// it names, so that a reader never sees half a site. The error wraps ErrNoWASM
// in a program without the page's analyzer.
func WriteSite(dir string, digests []*analysis.Digest) error {
	s, err := newStatic()
	if err != nil {
		return err
	}
	list, err := readList(dir)
	if err != nil {
		return err
	}
	runs, err := published(digests, false)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("the site's folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("the site's folder: %w", err)
	}
	defer root.Close()
	files := maps.Clone(s.files)
	for _, r := range runs {
		files[r.File], files[r.Page] = r.digest, r.page
	}
	if len(list.Pages) == 0 {
		list.Pages = legacy(root)
	}
	old := list.add(runs)
	old = append(old, list.turn(s.generation())...)
	for _, sub := range []string{"runs", "static"} {
		if err := root.MkdirAll(sub, 0o777); err != nil {
			return fmt.Errorf("the site's folder: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := replace(root, name, files[name]); err != nil {
			return err
		}
	}
	if err := list.write(root, s); err != nil {
		return err
	}
	for _, name := range old {
		if files[name] != nil {
			continue
		}
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing what the site no longer names: %w", err)
		}
	}
	return nil
}

// Files is a site of some runs by the names of its files, for who serves it
// without a folder, and the address of each run in it, as `log` in the page's
// fragment takes it.
func Files(digests []*analysis.Digest) (files map[string][]byte, logs []string, err error) {
	s, err := newStatic()
	if err != nil {
		return nil, nil, err
	}
	runs, err := published(digests, true)
	if err != nil {
		return nil, nil, err
	}
	list := List{Schema: ListSchema, Runs: []Entry{}}
	files = maps.Clone(s.files)
	for _, r := range runs {
		files[r.File], files[r.Page] = r.digest, r.page
		logs = append(logs, r.address())
	}
	list.add(runs)
	text, err := list.json()
	if err != nil {
		return nil, nil, err
	}
	files["runs.json"], files["index.html"] = text, []byte(index(list, s))
	return files, logs, nil
}

// run is a run as a site has it.
type run struct {
	Entry
	digest, page []byte
}

// published makes what a site has of each digest. Two that have one name and are
// not the same have two places where apart is set, and are an error else: one
// would take the place of the other.
func published(digests []*analysis.Digest, apart bool) (out []run, err error) {
	for _, d := range digests {
		d, err := d.Fit(analysis.PageBytes)
		if err != nil {
			return nil, err
		}
		r := run{}
		if r.digest, err = packDigest(d); err != nil {
			return nil, err
		}
		name := d.Manifest.Run
		place := "runs/" + SafeID(name)
		taken := func(o run) bool { return o.Page == place+".html" && !bytes.Equal(o.digest, r.digest) }
		for n := 2; slices.ContainsFunc(out, taken); n++ {
			if !apart {
				return nil, fmt.Errorf("two of the runs that were given are named %q and are not the same: a site has one run of a name, so add one of them only", name)
			}
			place = "runs/" + SafeID(name) + "-" + strconv.Itoa(n)
		}
		if r.Entry, err = entry(d, place, contentHash(r.digest)); err != nil {
			return nil, err
		}
		var page bytes.Buffer
		if err := WriteReport(&page, d, analysis.View{}, Options{Light: true, site: r.Log}); err != nil {
			return nil, err
		}
		r.page = page.Bytes()
		out = append(out, r)
	}
	return out, nil
}

func entry(d *analysis.Digest, place, hash string) (Entry, error) {
	doc, err := report.Build(d, analysis.View{}, report.Options{})
	if err != nil {
		return Entry{}, fmt.Errorf("run %s: %w", d.Manifest.Run, err)
	}
	e := Entry{
		Run: d.Manifest.Run, Log: place + ".digest.gz", File: place + "." + hash + ".digest.gz", Page: place + ".html", Queue: queueText(d),
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
	return texts.CommitsEvery(q.Kind, q.CommitInterval.String())
}

// Address is what the fragment of a site's page calls a run that was added to it:
// log=runs/….digest.gz, before it is escaped.
func Address(run string) string { return "runs/" + SafeID(run) + ".digest.gz" }

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

// replace writes a file beside its place and moves it there. Neither follows a
// link out of the site.
func replace(root *os.Root, name string, data []byte) error {
	fresh := path.Join(path.Dir(name), ".new-"+rand.Text())
	f, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("the site's folder: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = root.Rename(fresh, name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", filepath.Join(root.Name(), filepath.FromSlash(name)), err), root.Remove(fresh))
	}
	return nil
}
