// Package intake takes what a person gave to a page, files dropped on it, folders
// or what lay at addresses, tells what each is by its content, and reads it into
// runs: raw logs part by part, digests, and what other tools recorded.
//
// A dropped part has lost its folder, so that what it is of stands in its own
// metadata, and parts of two runs are two runs. The package reads through
// io.ReaderAt and knows no files, no network and no JavaScript. It passes over
// nothing in silence: what it cannot read is a Run with an error, and what lay
// in a folder and is no recording is in the notes.
package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"queuebench/analysis"
	"queuebench/importer"
	"queuebench/intake/address"
	"queuebench/rawlog"
)

// File is one of the things that were given.
type File struct {
	// Name is its path within what was dropped, or its address without what an
	// address keeps secret; for messages.
	Name string
	// From numbers what was given: an address with the parts that its run.json
	// names, or files that were dropped together.
	From int
	// Found: a person gave the folder that it lies in, not the file itself.
	Found bool
	// Remote: it came from an address, where nothing can be listed.
	Remote bool
	// Signed: its address was signed for it alone, so that nothing beside it can
	// be read.
	Signed bool
	Object rawlog.Object
	// Err is why there is nothing to read; Object is nil then.
	Err error
}

func (f *File) size() int64 {
	if f.Object == nil {
		return 0
	}
	return f.Object.Size()
}

// Options are how they are read.
type Options struct {
	View     analysis.View    // a raw log is cut at exactly
	Import   importer.Options // what files of other tools do not say
	Progress func(Progress)   // nil for nobody
}

// Run is what was read, or why it could not be.
type Run struct {
	Name   string // of the run, or of the file where none was read
	From   string // what it was read from
	Digest *analysis.Digest
	Err    error
}

// Open reads all files. Runs are in the order of the first file of each; notes
// are for people.
func Open(ctx context.Context, files []File, opt Options) (runs []Run, notes []string) {
	groups, notes := sorted(files)
	p := newTeller(files, opt.Progress)
	var imported []int // indexes of runs
	for _, g := range groups {
		r := Run{Name: g.name, From: g.from}
		p.begin(g)
		switch {
		case g.err != nil:
			r.Err = g.err
		case g.run != "":
			r.Digest, r.Err = g.readLog(ctx, opt, p)
		default:
			r.Digest, r.Err = g.readFile(ctx, opt, p)
		}
		p.end(g)
		if r.Err == nil && r.Digest.Manifest.Run != "" {
			r.Name = r.Digest.Manifest.Run
		}
		if r.Err != nil && g.found() && errors.Is(r.Err, importer.ErrUnknown) {
			notes = append(notes, fmt.Sprintf("%s was passed over: it is no recording that is known.", g.from))
			continue
		}
		if r.Err != nil {
			r.Err = native(r.Err, g)
		}
		runs = append(runs, r)
		if r.Err == nil && len(r.Digest.Steps) == 0 && len(r.Digest.References) > 0 {
			imported = append(imported, len(runs)-1)
		}
	}
	return joinSummaries(runs, imported), shorten(notes)
}

// native adds to an error what can be done without the page.
func native(err error, g *group) error {
	if strings.Contains(err.Error(), "`analyze ") {
		return err
	}
	return fmt.Errorf("%w. On the command line: `analyze report %s`", err, address.Quoted(g.place()))
}

// joinSummaries makes one run of those that only carry summaries: each is a
// point or a line, and together they are a figure, as on the command line.
func joinSummaries(runs []Run, which []int) []Run {
	if len(which) < 2 {
		return runs
	}
	var ds []*analysis.Digest
	var from []string
	for _, i := range which {
		ds = append(ds, runs[i].Digest)
		from = append(from, runs[i].From)
	}
	d, err := importer.Combine(ds...)
	if err != nil {
		return runs // each by itself
	}
	first := &runs[which[0]]
	first.Digest, first.Name, first.From = d, d.Manifest.Run, strings.Join(from, ", ")
	for _, i := range slices.Backward(which[1:]) {
		runs = slices.Delete(runs, i, i+1)
	}
	return runs
}

// shorten keeps a few notes and counts the others.
func shorten(notes []string) []string {
	const most = 5
	if len(notes) <= most {
		return notes
	}
	return append(notes[:most:most], fmt.Sprintf("and %d more of that kind.", len(notes)-most))
}

// readFile reads a digest or what another tool recorded.
func (g *group) readFile(ctx context.Context, opt Options, p *teller) (*analysis.Digest, error) {
	f := g.files[0]
	r := &counted{ctx: ctx, r: io.NewSectionReader(f.Object, 0, f.Object.Size()), tell: p.bytes}
	d, err := importer.Read(path.Base(f.Name), r, opt.Import)
	if err != nil && r.err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, r.err)
	}
	if errors.Is(err, importer.ErrUnknown) {
		err = fmt.Errorf("%w. The page takes the folder or files of a raw log, a digest, and these: %s", err, strings.Join(importer.Formats()[1:], ", "))
	}
	return d, err
}

// counted tells how much was read, and keeps the error of reading apart from
// those of what was read.
type counted struct {
	ctx  context.Context
	r    io.Reader
	n    int64
	tell func(int64)
	err  error
}

func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.tell(c.n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}
