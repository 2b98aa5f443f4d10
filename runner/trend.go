package runner

import (
	"math"
	"sync"
	"time"

	"queuebench/runner/schedule"
	"queuebench/stats"
)

// Trend is how the open messages of a step, due and not received by the slowest
// group, moved once it had settled. It is finer than the rule behind
// StepResult.Behind, for a search that has to tell 2 % over the limit within
// seconds.
//
// The open messages are read each 10 ms and their means taken over blocks, no
// shorter than a commit interval so that the saw-tooth of commits is averaged
// out. They grow if Mann–Kendall says so (z > 3.3) and the Theil–Sen slope is
// 1 % of the rate or more, the thresholds that the analysis has for a backlog; or
// z > 2.33 and 5 %. Mann–Kendall looks at ranks only, so that one stall, which
// leaves a step in the means and no slope, is no growth.
type Trend struct {
	Blocks    int     // means compared
	TooShort  bool    // fewer than minTrendBlocks: nothing is said
	PerSecond float64 // messages per second
	Z         float64
	Growing   bool
	// Drain is how long after the end of the load the last message came, or was
	// waited for. A queue that hands out messages in batches which last longer
	// than the step shows no trend in it, but a long drain.
	Drain time.Duration
	// Long says that the drain took longer than a queue that kept up would take:
	// a tenth of the step, and a quarter of a second, and two commit intervals.
	Long bool
	// Own says that at least half of the messages that were open in the last
	// quarter of the step waited for the runner itself: they were due, and the
	// client free to take them.
	Own bool
}

const (
	trendPeriod    = 10 * time.Millisecond
	minTrendBlocks = 10
	maxTrendBlocks = stats.MinTrendPoints
	// trendShare is the least slope that counts, of the rate.
	trendShare = 0.01
	// A steep slope needs less of a proof: in a short step of a queue that hands
	// out large batches a rate that is 15 % too high reaches z = 3.1.
	grossShare, grossZ = 0.05, 2.33
	drainSlack         = 250 * time.Millisecond
	// trendSettles is the part of the step that is left out at its beginning.
	trendSettles = 0.25
	// trendCells bounds the memory of a trace: beyond it, neighbours are merged.
	trendCells = 4096
)

// MinTrend is the shortest step in which growth can be told, of a queue whose
// messages become visible once per commit interval.
func MinTrend(commitInterval time.Duration) time.Duration {
	block := max(commitInterval, 5*trendPeriod)
	return time.Duration(math.Ceil(float64(minTrendBlocks*block) / (1 - trendSettles)))
}

// trace keeps the means of a quantity over time, in bounded memory.
type trace struct {
	width int64 // ns of a cell
	cells []cell
}

type cell struct {
	sum float64
	n   int
}

// add adds a reading at ns after the start.
func (t *trace) add(at int64, v float64) {
	if at < 0 {
		return
	}
	for at/t.width >= trendCells {
		half := t.cells[:0]
		for i := 0; i < len(t.cells); i += 2 {
			c := t.cells[i]
			if i+1 < len(t.cells) {
				c.sum += t.cells[i+1].sum
				c.n += t.cells[i+1].n
			}
			half = append(half, c)
		}
		t.cells, t.width = half, 2*t.width
	}
	i := int(at / t.width)
	for len(t.cells) <= i {
		t.cells = append(t.cells, cell{})
	}
	t.cells[i].sum += v
	t.cells[i].n++
}

// mean is that of the cells that begin in [from, to); NaN where none was read.
func (t *trace) mean(from, to int64) float64 {
	var all cell
	for i := (from + t.width - 1) / t.width; i < int64(len(t.cells)) && i*t.width < to; i++ {
		all.sum += t.cells[i].sum
		all.n += t.cells[i].n
	}
	if all.n == 0 {
		return math.NaN()
	}
	return all.sum / float64(all.n)
}

// trendOf judges a step's open messages, of which own are those that waited for
// the runner itself.
func trendOf(open, own *trace, duration, commitInterval time.Duration, rate float64) (v Trend) {
	from := int64(trendSettles * float64(duration))
	block := max(int64(commitInterval), 5*open.width, (int64(duration)-from+maxTrendBlocks-1)/maxTrendBlocks)
	if block >= 10*open.width {
		block -= block % open.width // else cells are shared out unevenly
	}
	var means []float64
	for at := int64(duration) - block; at >= from; at -= block {
		means = append([]float64{open.mean(at, at+block)}, means...)
	}
	if v.Blocks = len(means); v.Blocks < minTrendBlocks {
		v.TooShort = true
		return v
	}
	_, v.Z = stats.MannKendall(means)
	v.PerSecond = stats.TheilSen(means) * float64(time.Second) / float64(block)
	v.Growing = v.Z > stats.GrowthZ && v.PerSecond >= trendShare*rate || v.Z > grossZ && v.PerSecond >= grossShare*rate
	last := int64(duration) / 4 * 3
	v.Own = own.mean(last, int64(duration)) >= 0.5*open.mean(last, int64(duration))
	return v
}

// watch reads the open messages of a step while its load goes on.
type watch struct {
	s         *step
	open, own trace
	shares    []schedule.Share
	due       []int64
	quit      chan struct{}
	ended     sync.WaitGroup
}

// newWatch begins to watch a load from start to end.
func newWatch(s *step, start, end int64) *watch {
	w := &watch{s: s, open: trace{width: int64(trendPeriod)}, own: trace{width: int64(trendPeriod)}, quit: make(chan struct{})}
	for p := range s.senders {
		w.shares = append(w.shares, s.share(p))
	}
	w.due = make([]int64, len(w.shares))
	w.ended.Go(func() {
		ticker := time.NewTicker(trendPeriod)
		defer ticker.Stop()
		for {
			select {
			case <-w.quit:
				return
			case <-ticker.C:
			}
			now := s.r.cfg.Clock.Now()
			if now >= end {
				return
			}
			w.look(now - start)
		}
	})
	return w
}

// look reads the open messages at a time since the start.
func (w *watch) look(at int64) {
	var due int64
	var own float64
	for p := range w.shares {
		w.due[p] = w.shares[p].Due(w.due[p], at)
		due += w.due[p]
		own += float64(w.s.senders[p].ownLag.Load())
	}
	received := int64(math.MaxInt64)
	for _, g := range w.s.groups {
		received = min(received, g.fresh.Load())
	}
	w.open.add(at, float64(due-received))
	// A lag of so many ns at a rate is so many messages, of all producers.
	w.own.add(at, own/float64(len(w.shares))*w.s.plan.Rate.PerSecond()/1e9)
}

// stop ends the watching after the drain and judges it.
func (w *watch) stop(duration time.Duration) Trend {
	close(w.quit)
	w.ended.Wait()
	interval := w.s.queues[0].Info().CommitInterval
	t := trendOf(&w.open, &w.own, duration, interval, w.s.plan.Rate.PerSecond())
	t.Drain = max(0, time.Duration(w.s.r.cfg.Clock.Now()-w.s.start.Load())-duration)
	t.Long = t.Drain > duration/10+drainSlack+2*interval
	return t
}
