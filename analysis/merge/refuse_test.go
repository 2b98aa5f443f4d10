package merge

import (
	"errors"
	"strings"
	"testing"
	"time"

	"queuebench/rawlog"
)

// What is no load of one queue at one time is refused by name.
func TestRefusals(t *testing.T) {
	flat := func(int) time.Duration { return time.Millisecond }
	base := made{name: "a", rate: 100, long: 2 * sec, latency: flat, clock: boot("one", 0)}
	for name, c := range map[string]struct {
		other func(*made)
		want  string
	}{
		"no overlap":         {func(r *made) { r.begins = 3 * sec }, "run b began 22:13:23.000 UTC, when run a had ended 22:13:22.000 UTC"},
		"begins at its end":  {func(r *made) { r.begins = 2 * sec }, "no time in which all"},
		"another kind":       {func(r *made) { r.change = func(m *rawlog.Manifest) { m.Queue.Kind = "nats" } }, "kind kafka, and run b one of kind nats"},
		"other servers":      {func(r *made) { r.change = func(m *rawlog.Manifest) { m.Settings["brokers"] = "c:9092" } }, "--same-queue"},
		"another store":      {func(r *made) { r.change = func(m *rawlog.Manifest) { m.Store.Address = "s3://x/y/b?endpoint=z" } }, "that of run b in s3://x/y?endpoint=z"},
		"an embedded server": {func(r *made) { r.change = func(m *rawlog.Manifest) { m.Store.Embedded = true } }, "embedded server"},
		"in process":         {func(r *made) { r.change = func(m *rawlog.Manifest) { m.Queue.InProcess = true } }, "lived in its process"},
		"more steps":         {func(r *made) { r.steps = 2 }, "run a has 1 steps of up to 1 repeats (1 in all) and run b 2 steps"},
		"another repeat": {func(r *made) {
			r.steps, r.change = 1, func(m *rawlog.Manifest) { m.Steps[0].Repeat = 1; m.Steps[0].Parts = nil }
		}, "start all with the same steps"},
		"a closed loop": {func(r *made) { r.change = func(m *rawlog.Manifest) { m.Steps[0].Loop = rawlog.LoopClosed } }, "step 0 of run b is a closed loop"},
		"a drain":       {func(r *made) { r.change = func(m *rawlog.Manifest) { m.Steps[0].Drain = &rawlog.Drain{} } }, "drain of a backlog"},
		"a tail":        {func(r *made) { r.change = func(m *rawlog.Manifest) { m.Steps[0].Loop = rawlog.LoopTail } }, "tail of a table"},
		"more groups":   {func(r *made) { r.change = func(m *rawlog.Manifest) { m.Steps[0].Groups = []string{"group-0", "x"} } }, "--groups"},
		"a run id":      {func(r *made) { r.name, r.begins = "a", 1 }, "--run-id of its own"},
		"the same run":  {func(r *made) { *r = base }, "the same run, a: give each once"},
		"half a run": {func(r *made) {
			r.change = func(m *rawlog.Manifest) { m.Process, m.Role = "produce", rawlog.RoleProduce }
		}, "no log of a process that does consume"},
	} {
		other := base
		other.name = "b"
		c.other(&other)
		_, err := Runs(t.Context(), sourcesOf(t, base, other), Options{})
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Runs(t.Context(), sourcesOf(t, base), Options{}); !errors.Is(err, ErrRefused) {
		t.Errorf("one run: %v", err)
	}
	other := base
	other.name, other.begins = "b", sec/2
	other.change = func(m *rawlog.Manifest) { m.Settings["brokers"] = "c:9092" }
	d, err := Runs(t.Context(), sourcesOf(t, base, other), Options{SameQueue: true, Name: "both"})
	if err != nil || d.Manifest.Run != "both" || !strings.Contains(strings.Join(d.Manifest.Warnings, "\n"), "--brokers differs") {
		t.Errorf("one queue by another name: %v", err)
	}
}
