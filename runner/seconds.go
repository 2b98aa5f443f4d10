package runner

import (
	"time"

	"queuebench/stats"
)

// Second is a second of a step: what happened in [i, i+1) s since the
// schedule's start. Seconds go on through the drain until the step is closed;
// the last one is shorter.
//
// Scheduled, Received and the latencies are exact, since schedule and receivers
// know the time of each message. Attempted, Acked and Failed are read ten times
// a second, and what lies between two readings counts where the middle between
// them lies; the levels are those of the first reading after the second's end,
// commonly within a few ms of it.
type Second struct {
	Length time.Duration // a second, but for the last

	Scheduled int64 // messages that fell due
	Attempted int64 // handed to the client
	Acked     int64
	Failed    int64
	Received  int64 // deliveries to all groups, duplicates included

	// End to end, of the N first deliveries that were received in it; 0 where N
	// is 0.
	N        int64
	Mean     time.Duration
	P50, P99 time.Duration // nearest rank
	Max      time.Duration

	Backlog  int64 // level: acknowledged and not received by the slowest group
	InFlight int64 // level: handed to the client and not yet resolved
}

// secondsBook makes the seconds of a step. One goroutine uses it. The memory of
// a second that is over is that of a Second.
type secondsBook struct {
	all  []Second
	due  int64 // messages that were due at the end of the seconds that are over
	over int   // seconds whose schedule has been counted

	final int64                      // seconds before it have all their latencies
	open  map[int64]*stats.Histogram // latencies of the others
	spare []*stats.Histogram
	live  stats.Histogram // latencies of the final seconds
	last  []stats.Compact // latencies of the last final seconds, at most windowSeconds
}

// windowSeconds are what is shown as the last seconds of a run.
const windowSeconds = 5

// at is the second i, made if need be.
func (b *secondsBook) at(i int64) *Second {
	for int64(len(b.all)) <= i {
		b.all = append(b.all, Second{Length: time.Second})
	}
	return &b.all[i]
}

// next is the end of the second whose schedule is to be counted next, ns since
// the start.
func (b *secondsBook) next() int64 { return int64(b.over+1) * int64(time.Second) }

// scheduled ends a second: so many messages were due before its end.
func (b *secondsBook) scheduled(due int64) {
	b.at(int64(b.over)).Scheduled = due - b.due
	b.due = due
	b.over++
}

// add counts what happened between two readings.
func (b *secondsBook) add(before, now levels, start, backlog int64) {
	s := b.at(max(0, before.at+(now.at-before.at)/2-start) / int64(time.Second))
	s.Attempted += now.attempted - before.attempted
	s.Acked += now.acked - before.acked
	s.Failed += now.failed - before.failed
	// The seconds that ended since the last reading, and the one that goes on.
	for i := max(0, before.at-start) / int64(time.Second); i <= max(0, now.at-start)/int64(time.Second); i++ {
		s := b.at(i)
		s.Backlog, s.InFlight = backlog, now.inFlight
	}
}

// take adds a receiver's tally and empties it.
func (b *secondsBook) take(t *tally) {
	b.at(t.second).Received += t.deliveries
	t.deliveries = 0
	if t.latencies.N() == 0 {
		return
	}
	h := b.open[t.second]
	if h == nil {
		if n := len(b.spare); n > 0 {
			h, b.spare = b.spare[n-1], b.spare[:n-1]
		} else {
			h = new(stats.Histogram)
		}
		if b.open == nil {
			b.open = make(map[int64]*stats.Histogram)
		}
		b.open[t.second] = h
	}
	// Only a histogram that is none, or more than 2⁶³ values, is an error.
	_ = h.Accumulate(t.latencies.Take())
}

// settle says that the seconds before one have all their deliveries.
func (b *secondsBook) settle(before int64) {
	for ; b.final < before; b.final++ {
		var c stats.Compact
		if h := b.open[b.final]; h != nil {
			c = h.Compact()
			delete(b.open, b.final)
			h.Reset()
			b.spare = append(b.spare, h)
		}
		if b.last = append(b.last, c); len(b.last) > windowSeconds {
			b.last = append(b.last[:0], b.last[1:]...)
		}
		if c.N == 0 {
			continue
		}
		s := b.at(b.final)
		p50, _ := c.Quantile(0.5, 0)
		p99, _ := c.Quantile(0.99, 0)
		s.N, s.Mean = c.N, time.Duration(c.Mean())
		s.P50, s.P99, s.Max = time.Duration(p50), time.Duration(p99), time.Duration(c.Max)
		_ = b.live.Accumulate(c)
	}
}

// close ends the last second, end ns after the start, when so many messages
// were due.
func (b *secondsBook) close(end, due int64) {
	b.settle(int64(len(b.all)))
	n := len(b.all)
	if n == 0 {
		return
	}
	last := &b.all[n-1]
	last.Length = time.Duration(max(0, end-int64(n-1)*int64(time.Second)))
	last.Scheduled += due - b.due
}
