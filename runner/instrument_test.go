package runner

import (
	"strings"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
)

// elsewhere is a queue in memory that says that it is none.
type elsewhere struct{ queue.Queue }

func (q elsewhere) Info() queue.Info {
	info := q.Queue.Info()
	info.InProcess = false
	return info
}

func TestLatenciesThatTheInstrumentMayHideAreToldOnce(t *testing.T) {
	for _, c := range []struct {
		name      string
		waitP99   time.Duration
		inProcess bool
		want      int
	}{
		{"a waiter as slow as the queue", time.Second, false, 1},
		{"a quick one", time.Nanosecond, false, 0},
		{"a floor", time.Second, true, 0},
	} {
		r := newRig(t, memory.Config{Faults: memory.Faults{Delay: 5 * time.Millisecond}}, 200_000, 100*time.Millisecond)
		second := r.cfg.Plans[0]
		second.Step = 1
		r.cfg.Plans = append(r.cfg.Plans, second)
		r.opens(func() (queue.Queue, error) {
			q, err := memory.New(memory.Config{Faults: memory.Faults{Delay: 5 * time.Millisecond}})
			if c.inProcess || err != nil {
				return q, err
			}
			return elsewhere{q}, nil
		})
		r.cfg.Manifest.Calibration = &rawlog.Calibration{Wait: rawlog.WaitLag{P99Ns: int64(c.waitP99)}}
		if _, err := Run(t.Context(), r.cfg); err != nil {
			t.Fatal(err)
		}
		told := 0
		for _, text := range r.manifest(t).Warnings {
			if strings.Contains(text, "step 0, repeat 0: the median end-to-end latency is ") && strings.Contains(text, "woke up late by 1s") {
				told++
			}
		}
		if told != c.want {
			t.Errorf("%s: told %d times, warnings %q", c.name, told, r.manifest(t).Warnings)
		}
	}
}
