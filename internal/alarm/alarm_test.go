package alarm

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestSleepNeverEndsEarly(t *testing.T) {
	for name, a := range map[string]*Alarm{"alarm": New(), "runtime": {}} {
		defer a.Close()
		for _, d := range []time.Duration{-time.Second, 0, time.Nanosecond, 100 * time.Microsecond, 3 * time.Millisecond} {
			for range 20 {
				began := time.Now()
				if err := a.Sleep(t.Context(), d); err != nil {
					t.Fatal(name, err)
				}
				if took := time.Since(began); took < d {
					t.Errorf("%s: a sleep of %v ended after %v", name, d, took)
				}
			}
		}
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	for name, a := range map[string]*Alarm{"alarm": New(), "runtime": {}} {
		defer a.Close()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Millisecond, cancel)
		began := time.Now()
		if err := a.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s: %v", name, took)
		}
		if err := a.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: after the end: %v", name, err)
		}
		// It can be used again with another context.
		began = time.Now()
		if err := a.Sleep(t.Context(), 2*time.Millisecond); err != nil || time.Since(began) < 2*time.Millisecond {
			t.Errorf("%s: used again: %v after %v", name, err, time.Since(began))
		}
	}
}

// BenchmarkLate is by how much a sleep of 3 ms is longer.
func BenchmarkLate(b *testing.B) {
	for name, a := range map[string]*Alarm{"alarm": New(), "runtime": {}} {
		defer a.Close()
		b.Run(name, func(b *testing.B) {
			const d = 3 * time.Millisecond
			var late time.Duration
			for range b.N {
				began := time.Now()
				if err := a.Sleep(b.Context(), d); err != nil {
					b.Fatal(err)
				}
				late += time.Since(began) - d
			}
			b.ReportMetric(float64(late.Nanoseconds())/float64(b.N), "late-ns/op")
		})
	}
}
