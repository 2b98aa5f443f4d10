package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"queuebench/clock"
	"queuebench/rawlog"
)

// timeline puts the stamps of a run's clocks on one axis: that of the clock of
// its producers. Clocks of one boot are put there exactly, by the monotonic
// clock that they share; others by the offsets that were measured by exchange,
// over several of them where need be. What cannot be put there stays as it is
// and is not subtracted.
type timeline struct {
	reference clock.Identity
	offsets   []rawlog.ClockOffset
	shifts    map[clock.Identity]*shift
}

// shift is what is added to the stamps of a clock.
type shift struct {
	from  clock.Identity
	known bool
	legs  []leg
	// measured tells that the clocks are of two hosts or boots.
	measured bool
}

// leg is a step of a shift: what is added at points of time, straight lines in
// between, the outermost values beyond. fixed legs have one point.
type leg struct {
	points []rawlog.OffsetPoint // AtNs before the leg
	fixed  bool
}

// defaultDrift is by how much two clocks may drift apart where nothing was
// measured: 100 ppm, twice what the quartz of a common computer is allowed.
const defaultDrift = 100e-6

// newTimeline chooses the reference: the producers' clock, or the first one
// where there are none.
func newTimeline(all []*rawlog.Manifest) *timeline {
	tl := &timeline{shifts: map[clock.Identity]*shift{}}
	at := max(0, slices.IndexFunc(all, func(m *rawlog.Manifest) bool { return m.Role != rawlog.RoleConsume }))
	tl.reference = all[at].Clock
	for _, m := range all {
		for _, o := range m.ClockOffsets {
			if len(o.Points) > 0 {
				tl.offsets = append(tl.offsets, o)
			}
		}
	}
	// The most exact first.
	slices.SortStableFunc(tl.offsets, func(a, b rawlog.ClockOffset) int { return cmp.Compare(maxError(a.Points), maxError(b.Points)) })
	return tl
}

func maxError(points []rawlog.OffsetPoint) (e int64) {
	for _, p := range points {
		e = max(e, p.ErrorNs)
	}
	return e
}

// shift is what is to be added to the stamps of a clock.
func (tl *timeline) shift(c clock.Identity) *shift {
	if tl.reference == (clock.Identity{}) {
		tl.reference = c // of a manifest that names no clock
	}
	s := tl.shifts[c]
	if s == nil {
		s = tl.find(c)
		tl.shifts[c] = s
	}
	return s
}

// find looks for a way from a clock to the reference, the one with the fewest
// exchanges.
func (tl *timeline) find(c clock.Identity) *shift {
	ways := []shift{{from: c, known: true}}
	at := []clock.Identity{c}
	type boot struct{ host, id string }
	seen := map[boot]bool{{c.Host, c.BootID}: true}
	for i := 0; i < len(ways); i++ {
		if way, ok := ways[i].to(tl.reference, at[i]); ok {
			return way
		}
		for _, o := range tl.offsets {
			for _, x := range []struct {
				from, to clock.Identity
				points   []rawlog.OffsetPoint
			}{{o.Own, o.Peer, o.Points}, {o.Peer, o.Own, reversed(o.Points)}} {
				way, ok := ways[i].to(x.from, at[i])
				if b := (boot{x.to.Host, x.to.BootID}); !ok || seen[b] {
					continue
				} else {
					seen[b] = true
				}
				way.legs = append(way.legs, leg{points: x.points})
				way.measured = true
				ways, at = append(ways, *way), append(at, x.to)
			}
		}
	}
	return &shift{from: c}
}

// to goes on to another clock of the same boot.
func (s shift) to(target, at clock.Identity) (*shift, bool) {
	add, errorNs, _, ok := clock.Between(target, at)
	if !ok {
		return nil, false
	}
	s.legs = slices.Clone(s.legs)
	if add != 0 || errorNs != 0 {
		s.legs = append(s.legs, leg{[]rawlog.OffsetPoint{{OffsetNs: add, ErrorNs: errorNs}}, true})
	}
	return &s, true
}

// reversed are the points seen from the peer's side.
func reversed(points []rawlog.OffsetPoint) []rawlog.OffsetPoint {
	out := make([]rawlog.OffsetPoint, len(points))
	for i, p := range points {
		out[i] = rawlog.OffsetPoint{AtNs: p.AtNs + p.OffsetNs, OffsetNs: -p.OffsetNs, ErrorNs: p.ErrorNs}
	}
	return out
}

// on puts a time on the axis; 0, which is none, stays.
func (s *shift) on(ns int64) int64 {
	if ns == 0 || ns == math.MaxInt64 || ns == math.MinInt64 {
		return ns
	}
	for i := range s.legs {
		ns += s.legs[i].add(ns)
	}
	return ns
}

// all puts times on the axis in place; nulls stay.
func (s *shift) all(times []int64) {
	if len(s.legs) == 0 {
		return
	}
	for i, t := range times {
		if t != rawlog.Null {
			times[i] = s.on(t)
		}
	}
}

// add is what the leg adds at a time: between two measurements a straight line,
// whose error is at most that of the worse of the two as long as the clocks
// drift evenly in between.
func (l *leg) add(at int64) int64 {
	p := l.points
	i, _ := slices.BinarySearchFunc(p, at, func(q rawlog.OffsetPoint, t int64) int { return cmp.Compare(q.AtNs, t) })
	switch {
	case i == 0:
		return p[0].OffsetNs
	case i == len(p):
		return p[len(p)-1].OffsetNs
	}
	a, b := p[i-1], p[i]
	part := float64(at-a.AtNs) / float64(b.AtNs-a.AtNs)
	return a.OffsetNs + int64(math.Round(part*float64(b.OffsetNs-a.OffsetNs)))
}

// errorOver is by how much the leg may be wrong between two times: the worst of
// the measurements around them, and beyond the first or the last one what the
// clocks may have drifted since.
func (l *leg) errorOver(from, to int64) int64 {
	p := l.points
	first, last := p[0], p[len(p)-1]
	if l.fixed {
		return first.ErrorNs
	}
	lo, _ := slices.BinarySearchFunc(p, from, func(q rawlog.OffsetPoint, t int64) int { return cmp.Compare(q.AtNs, t) })
	hi, _ := slices.BinarySearchFunc(p, to, func(q rawlog.OffsetPoint, t int64) int { return cmp.Compare(q.AtNs, t) })
	worst := maxError(p[max(0, lo-1):min(len(p), hi+1)])
	beyond := max(0, first.AtNs-from, to-last.AtNs)
	drift, slack := l.drift()
	return worst + int64(math.Ceil((math.Abs(drift)+slack)*float64(beyond)))
}

// drift is how fast the clocks drift apart, in ns per ns, and by how much that
// may be wrong: the line through the first and the last measurement, and the
// lines that their errors allow. Where they are less than a second apart nothing
// is known of it.
func (l *leg) drift() (perNs, slack float64) {
	first, last := l.points[0], l.points[len(l.points)-1]
	span := float64(last.AtNs - first.AtNs)
	if span < float64(time.Second) {
		return 0, defaultDrift
	}
	return float64(last.OffsetNs-first.OffsetNs) / span, float64(first.ErrorNs+last.ErrorNs) / span
}

// ClockOffset is what was added to the stamps of consumers on another host or
// boot than the producers, and by how much it may be wrong.
type ClockOffset struct {
	Actor string `json:"actor"`
	From  string `json:"from"` // the clock that is corrected
	To    string `json:"to"`
	// OffsetNs is what was added in the middle of the step, ErrorNs a bound.
	OffsetNs int64 `json:"offset_ns"`
	ErrorNs  int64 `json:"error_ns"`
	// DriftPPM is how fast the offset grew, in µs per s, give or take
	// DriftErrorPPM.
	DriftPPM      float64 `json:"drift_ppm"`
	DriftErrorPPM float64 `json:"drift_error_ppm"`
	Exchanges     int     `json:"exchanges"`
}

// offset tells what a shift adds to the stamps of an actor in a step.
func (tl *timeline) offset(s *shift, actor string, start int64, d time.Duration) ClockOffset {
	o := ClockOffset{Actor: actor, From: clockName(s.from), To: clockName(tl.reference)}
	// The step by the clock that is corrected, as far as a constant offset tells.
	from := start - (s.on(start) - start)
	to := from + int64(d)
	middle := from + int64(d)/2
	o.OffsetNs = s.on(middle) - middle
	for i := range s.legs {
		l := &s.legs[i]
		o.ErrorNs += l.errorOver(from, to)
		if !l.fixed {
			drift, slack := l.drift()
			o.DriftPPM += drift * 1e6
			o.DriftErrorPPM += slack * 1e6
			o.Exchanges += len(l.points)
		}
		add := l.add(middle)
		from, to, middle = from+add, to+add, middle+add
	}
	return o
}

// clockConflict says why times of producers and consumers of a step cannot be
// subtracted, or nothing; and which offsets were used where they can be.
func (tl *timeline) clockConflict(s *stepParts) string {
	var sent *partRef
	for _, table := range []string{rawlog.Sent.Name, rawlog.Received.Name} {
		for _, actor := range s.actors(table) {
			for i := range s.tables[table][actor] {
				p := &s.tables[table][actor][i]
				if sent == nil {
					sent = p
				}
				if !tl.shift(p.part.Clock).known {
					return fmt.Sprintf("%s was stamped by the clock of %s and %s by that of %s, and no offset between them is known",
						sent.part.Actor, clockName(sent.part.Clock), p.part.Actor, clockName(p.part.Clock))
				}
			}
		}
	}
	return ""
}

// used are the measured offsets of a step, one for each actor and clock.
func (tl *timeline) used(s *stepParts, start int64, d time.Duration) []ClockOffset {
	var out []ClockOffset
	for _, table := range []string{rawlog.Sent.Name, rawlog.Received.Name} {
		for _, actor := range s.actors(table) {
			var last clock.Identity
			for i := range s.tables[table][actor] {
				c := s.tables[table][actor][i].part.Clock
				if x := tl.shift(c); x.known && x.measured && (i == 0 || c != last) {
					out = append(out, tl.offset(x, actor, start, d))
				}
				last = c
			}
		}
	}
	return out
}
