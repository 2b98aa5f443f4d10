package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"queuebench/queue/memory"
	"queuebench/rawlog"
)

func TestWhatGoesOnBesideAStepKnowsItsStartAndRecordsEvents(t *testing.T) {
	r := newRig(t, memory.Config{}, 1_000_000, 300*time.Millisecond)
	var ended, late bool
	var startNs int64
	var kept *Beside
	r.cfg.Beside = func(ctx context.Context, b *Beside) {
		b.Event("store", "output", "before", -1)
		var err error
		if startNs, err = b.Start(ctx); err != nil {
			t.Error(err)
		}
		b.Event("store", "fault", "beside", 5*time.Second)
		<-ctx.Done() // the step waits for what is taken back
		time.Sleep(50 * time.Millisecond)
		ended, kept = true, b
		late = b.Event("store", "fault over", "after", -1)
	}
	res, err := Run(t.Context(), r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !ended || !late {
		t.Error("the step did not wait for what went on beside it")
	}
	if startNs != res.Steps[0].StartedNs {
		t.Errorf("start %d, want %d", startNs, res.Steps[0].StartedNs)
	}
	if kept.Event("store", "fault", "too late", -1) {
		t.Error("an event after the end is said to be kept")
	}
	var got []string
	r.rows(t, "events", []string{"actor", "kind", "text", "duration_ns"}, func(_ rawlog.Part, n int, v []rawlog.Values) {
		for i := range n {
			if v[0].Dict[v[0].Codes[i]] == "store" {
				got = append(got, v[1].Dict[v[1].Codes[i]]+" "+v[2].Dict[v[2].Codes[i]])
				if lasted := v[3].Ints[i]; (v[1].Dict[v[1].Codes[i]] == "fault") != (lasted == int64(5*time.Second)) {
					t.Errorf("%s lasted %d", v[1].Dict[v[1].Codes[i]], lasted)
				}
			}
		}
	})
	if text := strings.Join(got, "|"); text != "output before|fault beside|fault over after" {
		t.Errorf("events %s", text)
	}
}
