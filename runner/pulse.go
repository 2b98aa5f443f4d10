package runner

import (
	"sync"
	"time"

	"queuebench/clock"
)

const (
	// pulsePeriod is the distance of two beats.
	pulsePeriod = 10 * time.Millisecond
	// standstill is for how long no beat comes before the process is said to
	// have stood still. A machine that is busy delays a beat by some 10 ms,
	// which shows nothing.
	standstill = 50 * time.Millisecond
	// maxGaps bounds what is remembered: the oldest are forgotten.
	maxGaps = 4096
)

// pulse notices when the whole process stood still: it was stopped by a signal,
// or its machine was, or it got no CPU. A Send in which that happens takes long
// through no doing of the queue. Shorter times, and those of one thread alone,
// it cannot tell from a client that blocks.
type pulse struct {
	clock *clock.Clock
	noted func(gap) // is told of each gap

	mu   sync.Mutex
	last int64 // beat, ns
	gaps []gap

	quit  chan struct{}
	ended sync.WaitGroup
}

// gap is a time between two beats.
type gap struct{ from, to int64 }

// newPulse starts to beat, until stop.
func newPulse(c *clock.Clock, noted func(gap)) *pulse {
	p := &pulse{clock: c, noted: noted, last: c.Now(), quit: make(chan struct{})}
	p.ended.Go(func() {
		ticker := time.NewTicker(pulsePeriod)
		defer ticker.Stop()
		for {
			select {
			case <-p.quit:
				return
			case <-ticker.C:
				p.beat(p.clock.Now())
			}
		}
	})
	return p
}

func (p *pulse) stop() {
	close(p.quit)
	p.ended.Wait()
}

func (p *pulse) beat(now int64) {
	p.mu.Lock()
	g := gap{p.last, now}
	p.last = now
	stood := now-g.from >= int64(standstill)
	if stood {
		if len(p.gaps) == maxGaps {
			p.gaps = p.gaps[:copy(p.gaps, p.gaps[maxGaps/2:])]
		}
		p.gaps = append(p.gaps, g)
	}
	p.mu.Unlock()
	if stood {
		p.noted(g)
	}
}

// during calls f with the gaps between two moments, the second of which is now,
// in order: the last may be one whose end no beat has noticed yet.
func (p *pulse) during(from, to int64, f func(gap)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range p.gaps {
		if g.to > from && g.from < to {
			f(gap{max(from, g.from), min(to, g.to)})
		}
	}
	if to-p.last >= int64(standstill) {
		f(gap{max(from, p.last), to})
	}
}
