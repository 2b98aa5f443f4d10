package runner

import (
	"context"
	"encoding/json"
	"time"

	"queuebench/rawlog"
)

// Sharing has the consume halves of a run whose groups are the same know of each
// other what each alone cannot: a queue shows a begin or an end mark to one member
// of a group only.
type Sharing interface {
	// Tell stores what this process has seen, in the place of what it told before.
	Tell(ctx context.Context, seen Attended) error
	// Ask returns what all others told last.
	Ask(ctx context.Context) ([]Attended, error)
}

// Attended is what a consume half has seen of marks.
type Attended struct {
	Process string `json:"process"`
	// Begin is what a begin mark told; nil before one came.
	Begin json.RawMessage `json:"begin,omitempty"`
	// Ends are end marks by group: producer, partition, and the seq that each
	// carried.
	Ends map[string][][3]int64 `json:"ends,omitempty"`
}

const (
	// sharePause is between two looks at what others told, where something is
	// awaited of them: until the begin is known, and from the end of the schedule on.
	sharePause = 250 * time.Millisecond
	// lastTell bounds how long the last thing that a process tells may take.
	lastTell = 5 * time.Second
)

// shareMarks tells the other halves of the groups what this one has seen, and takes
// what they did, until ctx ends; then it tells once more.
func (s *step) shareMarks(ctx context.Context) {
	told := 0
	tell := func(ctx context.Context) {
		seen, n := s.seen()
		if n == told {
			return
		}
		if err := s.r.cfg.Half.Sharing.Tell(ctx, seen); err == nil {
			told = n
		} else if ctx.Err() == nil {
			s.tellTrouble("telling the others of the group", err)
		}
	}
	ticker := time.NewTicker(sharePause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTell)
			defer cancel()
			tell(last)
			return
		case <-ticker.C:
		}
		tell(ctx)
		if !s.awaitsOthers() {
			continue
		}
		all, err := s.r.cfg.Half.Sharing.Ask(ctx)
		if err != nil && ctx.Err() == nil {
			s.tellTrouble("asking the others of the group", err)
		}
		for i := range all {
			s.take(&all[i])
		}
	}
}

// tellTrouble notes what went wrong, each thing once.
func (s *step) tellTrouble(what string, err error) {
	if !s.troubled {
		s.troubled = true
		s.events.add(s.r.cfg.actor(), "note", what+": "+err.Error()+"; it is tried again", rawlog.Null)
	}
}

// seen is what there is to tell, and how much that is.
func (s *step) seen() (seen Attended, n int) {
	a := s.attendance
	a.mu.Lock()
	if a.begin != nil {
		seen.Begin = a.begin.raw()
		n++
	}
	a.mu.Unlock()
	seen.Ends = map[string][][3]int64{}
	for _, g := range s.groups {
		g.mu.Lock()
		for m, seq := range g.marks {
			seen.Ends[g.name] = append(seen.Ends[g.name], [3]int64{int64(m.producer), int64(m.partition), seq})
			n++
		}
		g.mu.Unlock()
	}
	return seen, n
}

// awaitsOthers tells whether something is due that another process may have been
// shown: the begin, or the last end marks.
func (s *step) awaitsOthers() bool {
	a := s.attendance
	a.mu.Lock()
	begin, start := a.begin, a.started.Load()
	told := a.toldAt
	a.mu.Unlock()
	if begin == nil {
		return true
	}
	if start == 0 {
		start = told + begin.LeadNs
	}
	return s.r.cfg.Clock.Now() >= start+begin.DurationNs
}

// take takes what another process of the groups has seen.
func (s *step) take(other *Attended) {
	if len(other.Begin) > 0 {
		s.attendance.told(other.Begin)
	}
	for _, g := range s.groups {
		g.mu.Lock()
		for _, m := range other.Ends[g.name] {
			if m[0] >= 0 && m[0] < MaxActors && m[1] >= 0 && m[1] < int64(s.partitions) && m[2] >= 0 {
				g.seen(mark{uint16(m[0]), int32(m[1])}, m[2])
			}
		}
		g.mu.Unlock()
	}
}
