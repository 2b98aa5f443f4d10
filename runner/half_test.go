package runner

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner/payload"
	"queuebench/runner/schedule"
)

// shared is a queue that both halves of a test have in this process: it is
// neither emptied nor closed by one of them.
type shared struct{ queue.Queue }

func (shared) Create(context.Context) error { return nil }
func (shared) Remove(context.Context) error { return errors.New("a half removed the queue") }
func (shared) Close() error                 { return nil }

// halves are two runs over one queue and one log, each with a clock of its own.
type halves struct {
	dir              string
	produce, consume Config
}

func newHalves(t *testing.T, partitions int, spec schedule.Spec) *halves {
	t.Helper()
	q, err := memory.New(memory.Config{Partitions: partitions})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	made, err := schedule.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	h := &halves{dir: filepath.Join(t.TempDir(), "log")}
	open := func(context.Context, int) (queue.Queue, error) { return shared{q}, nil }
	h.produce = h.config(t, "produce", rawlog.RoleProduce)
	h.produce.Half.Spec = spec
	h.produce.Plans = []Plan{{
		Role: rawlog.RoleProduce, Rate: 1_000_000, Schedule: made, Open: open,
		Load: Load{Topics: 1, Producers: 2, MaxInFlight: 1 << 16, Payload: payload.Fixed(16), DrainTimeout: 5 * time.Second},
	}}
	h.consume = h.config(t, "consume", rawlog.RoleConsume)
	h.consume.Plans = []Plan{{Role: rawlog.RoleConsume, Open: open, Load: Load{Topics: 1, Groups: 2, Consumers: 1, DrainTimeout: 3 * time.Second}}}
	h.consume.Half.Wait = 10 * time.Second
	own := h.consume.Clock.Identity()
	h.consume.Half.ToOwn = func(theirs clock.Identity) (int64, error) {
		if add, _, _, ok := clock.Between(own, theirs); ok {
			return add, nil
		}
		return 0, errors.New("not measured")
	}
	return h
}

func (h *halves) config(t *testing.T, process string, role rawlog.Role) Config {
	store, err := objectstore.OpenFolder(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	c := clock.New()
	spool := filepath.Join(t.TempDir(), "spool")
	log, err := logwriter.New(logwriter.Options{Store: store, Run: "test", Clock: c.Identity(), SpoolDir: spool})
	if err != nil {
		t.Fatal(err)
	}
	closeAfter(t, log)
	return Config{
		Run: "test", Clock: c, Log: log, SpoolDir: spool, Half: &Half{}, Note: func(s string) { t.Log(process+":", s) },
		Manifest: &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: "test", Clock: c.Identity(), Process: process, Role: role, Settings: map[string]string{}},
	}
}

// run runs both halves at once.
func (h *halves) run(t *testing.T) (produced, consumed *Result, err error) {
	t.Helper()
	var wg sync.WaitGroup
	var perr, cerr error
	wg.Go(func() { consumed, cerr = Run(t.Context(), h.consume) })
	wg.Go(func() { produced, perr = Run(t.Context(), h.produce) })
	wg.Wait()
	if perr != nil {
		t.Errorf("producing: %v", perr)
	}
	return produced, consumed, cerr
}

// A consume half knows nothing of the load but what begin marks say, and shows
// latencies of it all the same, for any arrivals and the smallest messages.
func TestConsumersLearnTheLoadFromBeginMarks(t *testing.T) {
	h := newHalves(t, 3, schedule.Spec{Kind: schedule.PoissonArrivals, Profile: schedule.Steady(1_000_000), Duration: 500 * time.Millisecond, Seed: 7})
	produced, consumed, err := h.run(t)
	if err != nil {
		t.Fatal(err)
	}
	p, c := produced.Steps[0], consumed.Steps[0]
	n := h.produce.Plans[0].Schedule.Len()
	if p.Accounting.Acked != n || c.Accounting.Received != n || c.Accounting.Duplicates != 0 || c.Accounting.Foreign != 0 || c.Accounting.OutOfOrder != 0 {
		t.Errorf("%d messages: sent %+v, received %+v", n, p.Accounting, c.Accounting)
	}
	if c.EndToEnd.N != 2*n || c.EndToEnd.Min < 0 || c.EndToEnd.Max > int64(5*time.Second) {
		t.Errorf("%d latencies of two groups, from %d to %d ns", c.EndToEnd.N, c.EndToEnd.Min, c.EndToEnd.Max)
	}
	if c.WithoutEnd != "" || c.Producers != 2 || c.DurationNs != p.DurationNs || c.Arrivals != "poisson" || len(h.consume.Manifest.Begin) == 0 {
		t.Errorf("%+v", c.Step)
	}
	if d := c.StartedNs - p.StartedNs; d > 1e6 || d < -1e6 {
		t.Errorf("the schedule began %v later for the consumers", time.Duration(d))
	}
	for _, part := range append(append([]rawlog.PartInfo{}, p.Parts...), c.Parts...) {
		if part.Actor == "bench" {
			t.Errorf("part %s is of an actor that both halves have", part.Name)
		}
	}
}

func TestConsumersRefuseALoadOfOtherSettings(t *testing.T) {
	h := newHalves(t, 2, schedule.Spec{Profile: schedule.Steady(1_000_000), Duration: 100 * time.Millisecond})
	h.consume.Plans[0].Load.Topics = 2
	if _, _, err := h.run(t); err == nil || !strings.Contains(err.Error(), "--topics is 1 there and 2 here") {
		t.Errorf("%v", err)
	}
}

// The producers die, or are never there: the consumers end all the same, and say
// so.
func TestConsumersEndWithoutProducers(t *testing.T) {
	t.Run("never there", func(t *testing.T) {
		h := newHalves(t, 1, schedule.Spec{Profile: schedule.Steady(1_000_000), Duration: 100 * time.Millisecond})
		h.consume.Half.Wait = 50 * time.Millisecond
		if _, err := Run(t.Context(), h.consume); !errors.Is(err, ErrNothingCame) {
			t.Errorf("%v", err)
		}
	})
	for _, c := range []struct {
		name string
		idle time.Duration
		cut  bool
		says string
	}{{"idle", 300 * time.Millisecond, true, "idle timeout"}, {"deadline", 0, false, "the deadline"}} {
		t.Run(c.name, func(t *testing.T) {
			h := newHalves(t, 2, schedule.Spec{Profile: schedule.Steady(1_000_000), Duration: 1500 * time.Millisecond})
			h.consume.Half.IdleTimeout, h.consume.Plans[0].Load.DrainTimeout = c.idle, time.Second
			ctx, die := context.WithCancel(t.Context())
			defer die()
			h.produce.Status = func(s Status) {
				if s.Phase == "load" && s.Elapsed > 300*time.Millisecond {
					die()
				}
			}
			ended := make(chan struct{})
			go func() { defer close(ended); Run(ctx, h.produce) }()
			res, err := Run(t.Context(), h.consume)
			<-ended
			if err != nil {
				t.Fatal(err)
			}
			s := res.Steps[0]
			if !strings.Contains(s.WithoutEnd, c.says) || !strings.Contains(s.WithoutEnd, "0 of 4") || (s.CutOffNs != 0) != c.cut || s.Accounting.Received < 200 {
				t.Errorf("%q, cut off at %d, %+v", s.WithoutEnd, s.CutOffNs, s.Accounting)
			}
		})
	}
}

func TestBeginMarksRoundTrip(t *testing.T) {
	b := Begin{
		Version: beginVersion, Run: "r", Queue: "delta", CommitIntervalNs: 5, StartNs: 1, DurationNs: 2, Rate: 0.5, Arrivals: "burst", Messages: 9,
		Topics: 2, Producers: 4, Partitions: 3, Clock: clock.New().Identity(),
		Schedule: &schedule.Spec{Kind: schedule.BurstArrivals, Profile: schedule.Profile{{Rate: 1000}, {At: 5, Rate: 7, Ramp: true}}, Duration: 9, Burst: 3, Seed: 1<<63 + 5},
	}
	body, err := b.encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseBegin(body); err != nil || !reflect.DeepEqual(*got, b) {
		t.Errorf("%+v became %+v, %v", b, got, err)
	}
	// A schedule that is too long for a mark is left out.
	for range 9000 {
		b.Schedule.Profile = append(b.Schedule.Profile, schedule.Point{At: time.Hour, Rate: 1_000_000})
	}
	if body, err = b.encode(); err != nil {
		t.Fatal(err)
	}
	if got, err := ParseBegin(body); err != nil || got.Schedule != nil || got.Messages != 9 {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzParseBegin(f *testing.F) {
	b := Begin{Version: beginVersion, Run: "r", Rate: 1, Topics: 1, Producers: 1, Partitions: 1, Schedule: &schedule.Spec{Profile: schedule.Steady(1000), Duration: 5}}
	body, err := b.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add([]byte(`{"version":1}`))
	f.Add([]byte(`{"version":1,"producers":1025,"topics":1,"partitions":1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := ParseBegin(body)
		if err != nil {
			return
		}
		if b.Producers < 1 || b.Producers > MaxActors || b.Partitions > MaxPartitions || b.Producers%b.Topics != 0 || b.DurationNs < 0 {
			t.Fatalf("%+v", b)
		}
		if b.Schedule != nil && b.Messages < 1e6 {
			schedule.New(*b.Schedule) // refuses or makes, whatever it says
		}
	})
}
