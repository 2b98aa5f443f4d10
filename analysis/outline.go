package analysis

import (
	"context"
	"fmt"
	"time"

	"queuebench/clock"
	"queuebench/rawlog"
)

// Outline is what a run says of itself, without its rows.
type Outline struct {
	// Manifest is joined from those of all processes, on the axis of Manifest.Clock.
	Manifest rawlog.Manifest
	// Spans are the steps, in order, each from its start to where its load ended:
	// its schedule did, or it was cut off. Of a step that the manifest does not
	// have, since the run was killed in it, they are those of its rows.
	Spans []Span
}

// ReadOutline reads the outline of a run. Errors are as of Read.
func ReadOutline(ctx context.Context, src rawlog.Source) (*Outline, error) {
	r, m, steps, err := begin(ctx, src)
	if err != nil {
		return nil, err
	}
	out := &Outline{Manifest: withoutParts(*m)}
	for _, s := range withManifest(steps, m) {
		x, err := r.span(m, s)
		if err != nil {
			return nil, fmt.Errorf("step %d, repeat %d: %w", s.step, s.repeat, err)
		}
		out.Spans = append(out.Spans, x)
	}
	return out, nil
}

// span is when a step was under load.
func (r *reading) span(m *rawlog.Manifest, s *stepParts) (Span, error) {
	var d StepDigest
	planned := plannedStep(m, s.step, s.repeat)
	var sent []*sentStream
	if planned == nil {
		var received []*receivedStream
		var err error
		sent, received, err = r.open(s, false, true)
		defer func() {
			for _, x := range sent {
				x.close()
			}
			for _, x := range received {
				x.close()
			}
		}()
		if err != nil {
			return Span{}, err
		}
	}
	if _, err := describe(&d, planned, sent); err != nil {
		return Span{}, err
	}
	x := Span{Step: s.step, Repeat: s.repeat, StartNs: d.StartNs, Duration: d.Duration}
	if planned != nil {
		x.Warmup = time.Duration(planned.WarmupNs)
		if cut := planned.CutOffNs; cut != 0 {
			x.Duration = min(x.Duration, max(0, time.Duration(cut-x.StartNs)))
		}
	}
	return x, nil
}

// ClockShift puts times of one clock on the axis of another.
type ClockShift struct {
	tl    *timeline
	shift *shift
}

// ShiftBetween is the way from a clock to another, by what manifests tell: that
// both are of one boot, or exchanges with others; false where they tell none.
func ShiftBetween(all []*rawlog.Manifest, to, from clock.Identity) (ClockShift, bool) {
	if len(all) == 0 {
		return ClockShift{}, false
	}
	tl := newTimeline(all)
	tl.reference = to
	c := ClockShift{tl, tl.shift(from)}
	return c, c.shift.known
}

// On puts a time on the other axis; 0 stays.
func (c ClockShift) On(ns int64) int64 { return c.shift.on(ns) }

// Back undoes On, to within what the clocks drift apart in the time between them.
func (c ClockShift) Back(ns int64) int64 {
	if ns == 0 {
		return 0
	}
	at := ns - (c.shift.on(ns) - ns)
	return ns - (c.shift.on(at) - at)
}

// Measured tells that the clocks are of two hosts, or boots, whose offset was
// measured by exchange.
func (c ClockShift) Measured() bool { return c.shift.measured }

// Offset is what is added over a stretch of time of the other axis, and by how
// much it may be wrong, with the drift within it. actor is whose clock it is.
func (c ClockShift) Offset(actor string, start int64, d time.Duration) ClockOffset {
	o := c.tl.offset(c.shift, actor, start, d)
	drift := c.On(c.Back(start)+int64(d)) - (start + int64(d))
	o.ErrorNs += max(drift, -drift)
	return o
}
