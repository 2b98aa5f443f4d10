package deltalake

import (
	"context"
	"math/rand/v2"
	"time"

	"queuebench/internal/alarm"
)

// backoff is a pause before the next try: 5 ms, doubling to a second, with
// jitter from half of it to all.
func backoff(try int) time.Duration {
	d := min(5*time.Millisecond<<min(try, 10), time.Second)
	return d/2 + rand.N(d/2)
}

// newAlarm is for waits that a message's latency hangs on: the commit timer and
// the pauses of a reader.
func (c *Config) newAlarm() *alarm.Alarm {
	if c.runtimeTimers {
		return &alarm.Alarm{}
	}
	return alarm.New()
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func wake(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
