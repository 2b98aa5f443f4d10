package intake

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"queuebench/intake/address"
	"queuebench/rawlog"
)

// group is what makes up one run: the files of a raw log, or one other file.
type group struct {
	name, from string
	run        string // of a raw log; empty for another file
	number     int    // File.From of its first file
	dir        string // of its manifest
	files      []*File
	manifests  []*rawlog.Manifest
	parts      map[string]int // index in files, by identity
	source     source
	err        error
}

func (g *group) found() bool {
	return !slices.ContainsFunc(g.files, func(f *File) bool { return !f.Found })
}

// place is what the command line takes for the group: a folder or a file.
func (g *group) place() string {
	f := g.files[0]
	if len(g.manifests) > 0 && !f.Remote {
		if g.dir == "." {
			return "FOLDER"
		}
		return g.dir
	}
	return f.Name
}

func (g *group) size() (n int64) {
	for _, f := range g.files {
		n += f.size()
	}
	return n
}

// sniffed is how much of a file tells a manifest from other JSON.
const sniffed = 4 << 10

// sorted tells what each file is and which belong together.
func sorted(files []File) (groups []*group, notes []string) {
	type part struct {
		file *File
		part rawlog.Part
	}
	var parts []part
	var broken []*File
	reasons := map[*File]error{}
	alone := func(f *File, err error) {
		groups = append(groups, &group{name: path.Base(f.Name), from: f.Name, number: f.From, files: []*File{f}, err: err})
	}
	for i := range files {
		f := &files[i]
		if f.Err != nil {
			alone(f, f.Err)
			continue
		}
		head := make([]byte, min(sniffed, f.Object.Size()))
		if _, err := f.Object.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
			alone(f, fmt.Errorf("%s: %w", f.Name, err))
			continue
		}
		switch {
		case len(head) == 0 && f.Found:
			notes = append(notes, f.Name+" was passed over: it is empty.")
		case len(head) == 0:
			alone(f, fmt.Errorf("%s: the file is empty", f.Name))
		case bytes.HasPrefix(head, []byte("PAR1")):
			p, err := identity(f)
			switch {
			case errors.Is(err, rawlog.ErrNotAPart):
				alone(f, fmt.Errorf("%s: %w. Any Parquet can be read natively, by the names of its columns: `analyze report %s --columns intended=NAME,received=NAME`", f.Name, err, address.Quoted(f.Name)))
			case err != nil:
				broken = append(broken, f)
				reasons[f] = partError(f.Name, err)
			default:
				parts = append(parts, part{f, p})
			}
		case address.IsManifest(head):
			m, err := rawlog.ReadManifest(io.NewSectionReader(f.Object, 0, f.Object.Size()))
			if err != nil {
				alone(f, fmt.Errorf("%s: %w", f.Name, err))
				continue
			}
			groups = addManifest(groups, f, m)
		default:
			alone(f, nil)
		}
	}
	for _, p := range parts {
		g := owner(groups, p.file, p.part)
		if g == nil {
			g = newLog(p.file, p.part.Run)
			g.dir = "."
			groups = append(groups, g)
		}
		g.addPart(p.file, p.part)
	}
	for _, f := range broken {
		if g, name := claimed(groups, f); g != nil {
			// Reading it says what is wrong with it.
			g.files = append(g.files, f)
			g.source.objects[name] = f.Object
			continue
		}
		alone(f, reasons[f])
	}
	for _, g := range groups {
		g.checkParts()
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(a.order(files), b.order(files)) })
	return groups, notes
}

// order is the place of the group's first file.
func (g *group) order(files []File) int {
	for i := range files {
		if slices.Contains(g.files, &files[i]) {
			return i
		}
	}
	return len(files)
}

// claimed finds the log whose run.json names a part that lies where this file
// does, or of which only this file has the name.
func claimed(groups []*group, f *File) (*group, string) {
	for _, g := range groups {
		for _, p := range g.listed() {
			if _, there := g.source.objects[p.Name]; !there && g.number == f.From && (f.Name == path.Join(g.dir, p.Name) || path.Base(f.Name) == path.Base(p.Name)) {
				return g, p.Name
			}
		}
	}
	return nil, ""
}

// listed are the parts that the manifests name.
func (g *group) listed() (all []rawlog.PartInfo) {
	for _, m := range g.manifests {
		for i := range m.Steps {
			all = append(all, m.Steps[i].Parts...)
		}
	}
	return all
}

// checkParts says which parts are named and not there.
func (g *group) checkParts() {
	missing, first := 0, ""
	for _, p := range g.listed() {
		_, there := g.source.objects[p.Name]
		if _, same := g.parts[partName(p.Part)]; !there && !same {
			if missing++; missing == 1 {
				first = p.Name
			}
		}
	}
	if missing == 0 || g.err != nil {
		return
	}
	if slices.ContainsFunc(g.files, func(f *File) bool { return f.Signed }) {
		g.err = fmt.Errorf("%s: its address was signed for this one object, and %d parts that it names need signatures of their own, for instance %s: "+
			"give the signed address of each as a further log=, or that of a digest, which is one file: `analyze digest RUN -o run.digest.gz` makes it", g.from, missing, first)
	} else {
		g.err = fmt.Errorf("%s: %d of the %d parts that its %s names are missing, for instance %s: open the whole folder of the run", g.from, missing, len(g.listed()), rawlog.ManifestName, first)
	}
}

func partName(p rawlog.Part) string {
	return rawlog.PartName(p.Table, p.Step, p.Repeat, p.Actor, p.Index)
}

func identity(f *File) (rawlog.Part, error) {
	r, err := rawlog.OpenPart(f.Object)
	if err != nil {
		return rawlog.Part{}, err
	}
	return r.Part(), nil
}

// partError says what can be done about a part whose identity cannot be read:
// which run it is of is not known.
func partError(name string, err error) error {
	advice := "open the others without it"
	switch {
	case errors.Is(err, rawlog.ErrDamaged):
		advice = "copy it again; without it, open the others, and what comes before it is analysed"
	case errors.Is(err, rawlog.ErrNewer):
		advice = "use a newer page, or a newer analyze"
	}
	return fmt.Errorf("%s: %w (%s)", name, err, advice)
}

func newLog(f *File, run string) *group {
	return &group{name: run, from: f.Name, run: run, number: f.From, parts: map[string]int{}, source: source{address: f.Name, objects: map[string]rawlog.Object{}}}
}

// addManifest adds a manifest as a run, or as another half of one.
func addManifest(groups []*group, f *File, m *rawlog.Manifest) []*group {
	dir := path.Dir(f.Name)
	if m.Process != "" {
		for _, g := range groups {
			_, there := g.source.objects[m.Name()]
			if g.run == m.Run && !there && len(g.manifests) > 0 && g.manifests[0].Process != "" {
				g.add(f, m)
				return groups
			}
		}
	}
	g := newLog(f, m.Run)
	g.dir = dir
	if !f.Remote && dir != "." {
		g.from, g.source.address = dir, dir
	}
	g.add(f, m)
	return append(groups, g)
}

func (g *group) add(f *File, m *rawlog.Manifest) {
	g.files = append(g.files, f)
	g.manifests = append(g.manifests, m)
	g.source.objects[m.Name()] = f.Object
}

// owner is the log that a part belongs to: of those of its run the one whose
// folder it lies in, or that came with it; nil for none.
func owner(groups []*group, f *File, p rawlog.Part) (best *group) {
	score := -1
	for _, g := range groups {
		if g.run == "" || g.run != p.Run {
			continue
		}
		s := 0
		if g.number == f.From {
			s++
			if g.dir != "." && strings.HasPrefix(f.Name, g.dir+"/") {
				s += 1 + len(g.dir)
			}
		}
		if s > score {
			best, score = g, s
		}
	}
	return best
}

func (g *group) addPart(f *File, p rawlog.Part) {
	name := partName(p)
	if i, there := g.parts[name]; there && g.err == nil {
		g.err = fmt.Errorf("%s and %s are the same part of the run %q: open it with one of them", g.files[i].Name, f.Name, g.run)
	}
	g.parts[name] = len(g.files)
	g.files = append(g.files, f)
	g.source.objects[name] = f.Object
	if len(g.manifests) == 0 {
		g.source.clock = p.Clock
	}
}
