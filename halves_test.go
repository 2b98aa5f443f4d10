package queuebench_test

import (
	"context"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/clock"
	"queuebench/clock/offset"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/queue/deltalake"
	"queuebench/rawlog"
	"queuebench/rawlog/logstore"
	"queuebench/rawlog/logwriter"
	"queuebench/runner"
	"queuebench/runner/payload"
	"queuebench/runner/schedule"
)

// Two halves with clocks hours apart, as on two hosts: the offset is measured by
// exchange while they run, and the latencies of the joined logs are those of one
// clock, give or take the error that is told.
func TestHalvesWhoseClocksAreApart(t *testing.T) {
	lake, logs := t.TempDir(), filepath.Join(t.TempDir(), "r")
	produceClock, consumeClock := clock.New(), clock.Skewed(-2*time.Hour, "another boot")
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serving, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { offset.Serve(serving, conn, produceClock) })
	defer wg.Wait()
	defer stop()
	follower := offset.Follow(t.Context(), conn.LocalAddr().String(), consumeClock)

	config := func(process string, role rawlog.Role, c *clock.Clock) runner.Config {
		store, err := objectstore.OpenFolder(logs)
		if err != nil {
			t.Fatal(err)
		}
		spool := filepath.Join(t.TempDir(), "spool")
		log, err := logwriter.New(logwriter.Options{Store: store, Run: "r", Clock: c.Identity(), SpoolDir: spool})
		if err != nil {
			t.Fatal(err)
		}
		tables, err := objectstore.OpenFolder(lake)
		if err != nil {
			t.Fatal(err)
		}
		return runner.Config{
			Run: "r", Clock: c, Log: log, SpoolDir: spool, Half: &runner.Half{}, Note: func(s string) { t.Log(process+":", s) },
			Manifest: &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: "r", Clock: c.Identity(), Process: process, Role: role, Settings: map[string]string{"groups": "1"}},
			Plans: []runner.Plan{{Role: role, Open: func(context.Context, int) (queue.Queue, error) {
				return deltalake.New(deltalake.Config{Store: tables, Clock: c, Name: "t", Partitions: 1, CommitInterval: 20 * time.Millisecond})
			}}},
		}
	}
	p := config("produce", rawlog.RoleProduce, produceClock)
	p.Half.Spec = schedule.Spec{Profile: schedule.Steady(1_000_000), Duration: 2 * time.Second}
	p.Plans[0].Rate, p.Plans[0].Schedule = 1_000_000, schedule.NewConstant(1_000_000, 2*time.Second)
	p.Plans[0].Load = runner.Load{Topics: 1, Producers: 1, MaxInFlight: 1 << 16, Payload: payload.Fixed(100), DrainTimeout: 10 * time.Second}
	c := config("consume", rawlog.RoleConsume, consumeClock)
	c.Plans[0].Load = runner.Load{Topics: 1, Groups: 1, Consumers: 1, DrainTimeout: 10 * time.Second}
	c.Half.Wait = 20 * time.Second
	c.Half.ToOwn = func(theirs clock.Identity) (int64, error) {
		m, err := follower.Measurements()
		if len(m) == 0 {
			return 0, err
		}
		return -m[len(m)-1].OffsetNs, nil
	}
	c.Offsets = func(ctx context.Context, last bool) ([]rawlog.ClockOffset, error) {
		if last {
			follower.Stop(ctx)
		}
		measured, err := follower.Measurements()
		o := rawlog.ClockOffset{Own: consumeClock.Identity(), Peer: produceClock.Identity()}
		for _, m := range measured {
			o.Points = append(o.Points, rawlog.OffsetPoint{AtNs: m.AtNs, OffsetNs: m.OffsetNs, ErrorNs: m.ErrorNs})
		}
		return []rawlog.ClockOffset{o}, err
	}
	var consumed *runner.Result
	var perr, cerr error
	wg.Go(func() { consumed, cerr = runner.Run(t.Context(), c) })
	_, perr = runner.Run(t.Context(), p)
	stopped := make(chan struct{})
	go func() { stop(); wg.Wait(); close(stopped) }()
	<-stopped
	if perr != nil || cerr != nil {
		t.Fatal(perr, cerr)
	}

	source, err := logstore.Open(t.Context(), logs, objectstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := analysis.Read(t.Context(), source, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	step := d.Steps[0]
	if len(step.ClockOffsets) != 1 || step.NoEndToEnd != "" {
		t.Fatalf("offsets %+v, no end to end: %q", step.ClockOffsets, step.NoEndToEnd)
	}
	o := step.ClockOffsets[0]
	a, b := produceClock.Identity(), consumeClock.Identity()
	truth := (a.AnchorNs - a.MonotonicNs) - (b.AnchorNs - b.MonotonicNs)
	if wrong := o.OffsetNs - truth; wrong > o.ErrorNs+10_000 || -wrong > o.ErrorNs+10_000 || o.ErrorNs > int64(100*time.Millisecond) {
		t.Errorf("%+v, in truth %d", o, truth)
	}
	if x := step.Accounting; x.Acked != 2000 || x.Received != 2000 || x.Lost != 0 || x.Duplicates != 0 || x.Unknown != 0 {
		t.Errorf("%+v", x)
	}
	// No message comes before it was sent, but for the error of the offset.
	for _, iv := range step.Intervals {
		if h := iv.Latency[analysis.EndToEndFromSend]; h.N > 0 && (h.Min < -o.ErrorNs || h.Max > int64(20*time.Second)) {
			t.Errorf("from %d to %d ns after %v", h.Min, h.Max, iv.Start)
		}
	}
	if l := consumed.Steps[0].EndToEnd; l.N != 2000 || l.Max > int64(20*time.Second) {
		t.Errorf("shown while it ran: %d latencies, up to %v", l.N, time.Duration(l.Max))
	}
}
