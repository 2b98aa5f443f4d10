package analysis

import (
	"math"
	"time"
)

// maxSecondRows is how many rows of the table seconds a rule looks at, and a
// coarse digest keeps, beside those around a stall.
const maxSecondRows = 600

// secondsBin is how long the rows are that rules look at: the fewest whole seconds
// that make no more than maxSecondRows of a step, which is one up to ten minutes.
// It is the same in the raw log and in each digest of it, and so is what is found.
func (s *StepDigest) secondsBin() time.Duration {
	end := s.Duration
	for i := range s.Seconds {
		end = max(end, s.Seconds[i].At)
	}
	return time.Second * max(1, (end-1)/(maxSecondRows*time.Second)+1)
}

// binnedSeconds are rows that are joined with those of the same bin: counts are
// added, a level is that at the end. Rows for which alone is true stay as they are;
// nil is for none.
func binnedSeconds(rows []Second, bin time.Duration, alone func(*Second) bool) []Second {
	if bin <= time.Second {
		return rows
	}
	// A row is about a second that ends when it was taken, a moment late.
	binOf := func(s *Second) int64 {
		return int64(math.Floor(float64(s.At-time.Second/2) / float64(bin)))
	}
	var out []Second
	var last int64
	open := false // the last row of out may be joined
	for i := range rows {
		r := &rows[i]
		if alone != nil && alone(r) {
			out, open = append(out, *r), false
			continue
		}
		if b := binOf(r); open && b == last {
			out[len(out)-1].follow(r)
		} else {
			out, last, open = append(out, *r), b, true
		}
	}
	return out
}

// bins are the rows of the step that rules look at, and how long each is.
func (c *cut) bins() (rows []Second, spans []time.Duration) {
	if c.binned == nil {
		c.binned = binnedSeconds(c.step.Seconds, c.step.secondsBin(), nil)
	}
	return rowsWithin(c.binned, c.warmup, c.end)
}

// binName names what a row of bins is.
func (c *cut) binName() string {
	if bin := c.step.secondsBin(); bin > time.Second {
		return formatDuration(bin)
	}
	return "second"
}

// rowsWithin are the rows of a part of the schedule, and how long each is.
func rowsWithin(all []Second, from, to time.Duration) (rows []Second, spans []time.Duration) {
	for i := range all {
		span := spanOf(all, i)
		if s := &all[i]; span > 0 && s.At-span >= from-span/2 && s.At <= to+span/2 {
			rows, spans = append(rows, *s), append(spans, span)
		}
	}
	return rows, spans
}

// spanOf is how long row i counted: a second, or more where rows were joined.
func spanOf(rows []Second, i int) time.Duration {
	if i > 0 {
		return rows[i].At - rows[i-1].At
	}
	if len(rows) > 1 {
		return rows[1].At - rows[0].At
	}
	return time.Second
}
