package intake

import (
	"fmt"

	"queuebench/analysis"
)

// Progress is how far the reading has come.
type Progress struct {
	Name        string // of what is being read
	Done, Bytes int64  // of all files; a raw log's by its records
	Read, Of    int64  // records of a raw log; 0 of 0 elsewhere
}

// Text is p for people.
func (p Progress) Text() string {
	s := fmt.Sprintf("Reading %s: %.1f of %.1f MB", p.Name, float64(p.Done)/1e6, float64(p.Bytes)/1e6)
	if p.Of > 0 {
		s += fmt.Sprintf(", %s of %s records", analysis.FormatCount(p.Read), analysis.FormatCount(p.Of))
	}
	return s
}

// Part is p from 0 to 1.
func (p Progress) Part() float64 {
	if p.Bytes <= 0 {
		return 0
	}
	return min(1, float64(p.Done)/float64(p.Bytes))
}

// teller turns what readers know into Progress.
type teller struct {
	now    Progress
	before int64 // bytes of the groups that are done
	size   int64 // of the one at hand
	tell   func(Progress)
}

func newTeller(files []File, tell func(Progress)) *teller {
	t := &teller{tell: tell}
	for i := range files {
		t.now.Bytes += files[i].size()
	}
	return t
}

func (t *teller) begin(g *group) {
	t.size = g.size()
	t.now.Name, t.now.Done, t.now.Read, t.now.Of = g.name, t.before, 0, 0
	t.send()
}

func (t *teller) end(*group) {
	t.before += t.size
	t.now.Done = t.before
	t.send()
}

func (t *teller) bytes(n int64) {
	t.now.Done = t.before + min(n, t.size)
	t.send()
}

func (t *teller) records(done, total int64) {
	t.now.Read, t.now.Of = done, total
	t.now.Done = t.before + int64(float64(t.size)*float64(done)/float64(max(1, total)))
	t.send()
}

func (t *teller) send() {
	if t.tell != nil {
		t.tell(t.now)
	}
}
