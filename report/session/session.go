// Package session is what is open in the page: runs that files or addresses gave,
// and the view of one of them, or of all, that an address asks for.
//
// It draws nothing and reads nothing itself, and it knows no JavaScript: the
// WebAssembly module hands it bytes and addresses.
package session

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"queuebench/analysis"
	"queuebench/report"
)

// The page's keys of an address that say which of the open runs is shown.
const (
	keyRun   = "run"   // its number, from 1
	keyView  = "view"  // viewCompare: all of them beside each other
	keyBase  = "base"  // the number of the run that the others are held against
	keyLabel = "label" // of a comparison's runs, one for each in their order

	viewCompare = "compare"
)

// Comparison draws runs beside each other, as report.Build draws one.
type Comparison func(ds []*analysis.Digest, v analysis.View, o report.Options) (report.Document, error)

// Session is what is open. The zero value has nothing open.
type Session struct {
	Runs    []Run
	Compare Comparison // nil where the program has none
}

// Run is one of the open runs, or why it could not be read: it keeps its
// number, which addresses name.
type Run struct {
	Name   string // of the run, or of what was to be read
	From   string // file or address, without what an address keeps secret
	Digest *analysis.Digest
	Err    error
}

// File is a digest that was given to the page, or why there is none.
type File struct {
	Name, From string
	Data       []byte // a digest, also gzipped
	Err        error  // Data is not looked at
	// Foreign: it is no digest, and the page has nothing that reads it; Data is
	// its beginning. Those of one Group were given together.
	Foreign bool
	Group   int
}

// Open reads each file as a run, in the place of what was open. What the page
// cannot read is one entry for all that was given together.
func (s *Session) Open(files []File) {
	s.Runs = nil
	told := map[int]bool{}
	for _, f := range files {
		if f.Foreign && f.Err == nil {
			if !told[f.Group] {
				told[f.Group] = true
				s.Runs = append(s.Runs, foreign(files, f.Group))
			}
			continue
		}
		r := Run{Name: f.Name, From: f.From, Err: f.Err}
		if r.Err == nil {
			if r.Digest, r.Err = analysis.ReadDigest(bytes.NewReader(f.Data)); r.Err == nil {
				r.Name = r.Digest.Manifest.Run
			} else {
				r.Err = fmt.Errorf("%s: %w. Copy it again, or make it anew: `analyze digest RUN`", f.Name, r.Err)
			}
		}
		s.Runs = append(s.Runs, r)
	}
}

// IsDigest tells a digest, also gzipped, by its beginning, of which some
// kilobytes suffice. What it is not, package intake reads.
func IsDigest(head []byte) bool {
	var r io.Reader = bytes.NewReader(head)
	if z, err := gzip.NewReader(bytes.NewReader(head)); err == nil {
		r = z
	}
	text := make([]byte, 1<<10)
	n, _ := io.ReadFull(r, text) // cut off by who read the beginning
	return bytes.HasPrefix(text[:n], []byte("#[")) && bytes.Contains(text[:n], []byte("#[queuebench.digest/"))
}

// View draws what a fragment of an address names, figures width CSS pixels wide:
// all of it, or of a run the part that report.Options names.
func (s *Session) View(fragment string, width int, part string) (report.Document, error) {
	v, err := analysis.ParseFragment(fragment)
	if err != nil {
		return report.Document{}, err
	}
	o := report.Options{Width: min(max(width, 320), 1100)}
	page, err := url.ParseQuery(strings.TrimPrefix(fragment, "#"))
	if err != nil {
		return report.Document{}, err
	}
	switch what := page.Get(keyView); what {
	case "":
	case viewCompare:
		o.Labels = page[keyLabel]
		if o.Base, err = s.number(keyBase, page.Get(keyBase)); err != nil {
			return report.Document{}, err
		}
		return s.compared(v, o)
	default:
		return report.Document{}, fmt.Errorf("there is no view %q: leave the key out, or write view=%s", what, viewCompare)
	}
	d, err := s.named(page.Get(keyRun))
	if err != nil {
		return report.Document{}, err
	}
	if err := o.Address(d, fragment); err != nil {
		return report.Document{}, err
	}
	o.Part = part
	return report.Build(d, v, o)
}

// named is the run of a number from 1, the first one where none is given.
func (s *Session) named(number string) (*analysis.Digest, error) {
	if len(s.Runs) == 0 {
		return nil, errors.New("no run is open")
	}
	i, err := s.number(keyRun, number)
	if err != nil {
		return nil, err
	}
	return s.Runs[i].Digest, s.Runs[i].Err
}

// number is the index of the run of a number from 1, as the key of an address has
// it; 0 where it has none.
func (s *Session) number(key, text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(s.Runs) {
		return 0, fmt.Errorf("%s=%s: the open runs have the numbers 1 to %d", key, text, len(s.Runs))
	}
	return n - 1, nil
}

// compared draws all open runs beside each other. One that could not be read is
// an error: a comparison without it would be of something else.
func (s *Session) compared(v analysis.View, o report.Options) (report.Document, error) {
	var ds []*analysis.Digest
	for _, r := range s.Runs {
		if r.Err != nil {
			return report.Document{}, fmt.Errorf("%s cannot be compared: %w", r.Name, r.Err)
		}
		ds = append(ds, r.Digest)
	}
	switch {
	case len(ds) < 2:
		return report.Document{}, fmt.Errorf("a comparison needs two runs or more, %d is open", len(ds))
	case s.Compare == nil:
		return report.Document{}, errors.New("this page has no comparison: use `analyze compare` on the command line")
	}
	return s.Compare(ds, v, o)
}
