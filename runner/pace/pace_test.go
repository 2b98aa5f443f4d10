package pace

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/clock"
)

func TestNeverEarly(t *testing.T) {
	c := clock.New()
	for _, kind := range []Kind{Precise, Sleep} {
		var stop atomic.Bool
		w := New(c, kind, &stop)
		for i := range 200 {
			at := c.Now() + int64(i)*2000
			if got := w.Until(at); got < at {
				t.Errorf("kind %d returned %d ns early", kind, at-got)
			}
		}
		w.Close()
	}
}

func TestStopEndsALongWait(t *testing.T) {
	c := clock.New()
	var stop atomic.Bool
	w := New(c, Precise, &stop)
	defer w.Close()
	timer := time.AfterFunc(20*time.Millisecond, func() { stop.Store(true) })
	defer timer.Stop()
	begin := c.Now()
	if end := w.Until(begin + int64(time.Hour)); end-begin > int64(30*time.Second) {
		t.Errorf("stopped after %v", time.Duration(end-begin))
	}
}

// BenchmarkLateness reports how late a waiter is at 10,000 waits a second.
func BenchmarkLateness(b *testing.B) {
	for _, k := range []struct {
		name string
		kind Kind
	}{{"precise", Precise}, {"sleep", Sleep}} {
		b.Run(k.name, func(b *testing.B) {
			c := clock.New()
			var stop atomic.Bool
			w := New(c, k.kind, &stop)
			defer w.Close()
			late := make([]int64, b.N)
			next := c.Now()
			for i := range late {
				next += 100_000
				late[i] = w.Until(next) - next
			}
			slices.Sort(late)
			b.ReportMetric(float64(late[len(late)/2])/1000, "µs-p50")
			b.ReportMetric(float64(late[(len(late)*99-1)/100])/1000, "µs-p99")
		})
	}
}
