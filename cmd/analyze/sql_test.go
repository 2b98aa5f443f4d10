package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/rawlog"
)

// The cut of a query is that of a summary under the same view, and a view whose
// cut only the data could tell is refused rather than cut elsewhere.
func TestCutOfAQuery(t *testing.T) {
	const start = 1_700_000_000_000_000_000
	of := func(change func(e *rawlog.Step)) *rawlog.Manifest {
		e := rawlog.Step{StartedNs: start, DurationNs: 20e9, Complete: true, Groups: []string{"g"}}
		if change != nil {
			change(&e)
		}
		return &rawlog.Manifest{Steps: []rawlog.Step{e}}
	}
	burst := func(e *rawlog.Step) { e.Arrivals = "burst" }
	for name, c := range map[string]struct {
		m           *rawlog.Manifest
		v           analysis.View
		from, until int64 // after the start
		refused     string
	}{
		"a tenth":             {of(nil), analysis.View{}, 2e9, math.MaxInt64, ""},
		"as asked":            {of(nil), analysis.View{Warmup: new(3 * time.Second)}, 3e9, math.MaxInt64, ""},
		"until a time":        {of(nil), analysis.View{WarmupUntil: start + 5e9}, 5e9, math.MaxInt64, ""},
		"until a time before": {of(nil), analysis.View{WarmupUntil: start - 5e9}, 0, math.MaxInt64, ""},
		"a cool-down":         {of(nil), analysis.View{Cooldown: time.Second}, 2e9, 19e9, ""},
		"a window":            {of(nil), analysis.View{From: 4 * time.Second, To: 6 * time.Second}, 4e9, 6e9, ""},
		"a window's warm-up":  {of(nil), analysis.View{From: time.Second}, 2e9, math.MaxInt64, ""},
		"the run's own":       {of(func(e *rawlog.Step) { e.WarmupNs = 7e9 }), analysis.View{}, 7e9, math.MaxInt64, ""},
		"a drain":             {of(func(e *rawlog.Step) { e.Drain = &rawlog.Drain{} }), analysis.View{}, 0, math.MaxInt64, ""},
		"bursts, as asked":    {of(burst), analysis.View{Warmup: new(time.Duration(0))}, 0, math.MaxInt64, ""},
		"bursts":              {of(burst), analysis.View{}, 0, 0, "--warmup 0s"},
		"steady":              {of(nil), analysis.View{Steady: true}, 0, 0, "--warmup steady"},
		"all of it":           {of(nil), analysis.View{Warmup: new(time.Minute)}, 0, 0, "shorter"},
		"a loop":              {of(func(e *rawlog.Step) { e.Loop = rawlog.LoopClosed }), analysis.View{}, 0, 0, "schedule"},
		"cut off":             {of(func(e *rawlog.Step) { e.CutOffNs = 1 }), analysis.View{}, 0, 0, "watermark"},
		"no step":             {&rawlog.Manifest{}, analysis.View{}, 0, 0, "no step"},
	} {
		got, err := sqlSteps(c.m, c.v)
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
			continue
		}
		until := c.until
		if until != math.MaxInt64 {
			until += start
		}
		if err != nil || len(got) != 1 || got[0].FromNs != start+c.from || got[0].UntilNs != until {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
