package deltalake

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"queuebench/internal/reliability"
	"queuebench/queue"
)

// 10,000 commits, one message each (delta-rs#1815, #2518): the last one makes
// the same requests and as much work as the first, a reader follows all the way,
// one that begins in the middle gets the rest, and who opens the table reads a
// checkpoint and not the log. Under the race detector it is a fifth of them.
func TestTenThousandCommits(t *testing.T) {
	commits := 10_000
	if raceDetector {
		commits = 2000
	}
	row := reliability.Try(t, reliability.Row{
		ID: "delta/ten-thousand-commits", What: "many commits in one Delta table, with checkpoints", Often: fmt.Sprintf("%d commits", commits), Effort: float64(commits),
		Holds: "the last tenth makes as many requests and as much work as the first; who opens the table reads a checkpoint; readers from the start and the middle get all",
	})
	part := commits / 10
	store := newMemStore()
	cfg := Config{Store: store, Name: "table", AppID: "a", BatchMessages: 1, CommitInterval: time.Millisecond, MaxPending: 800, CheckpointCommits: int64(part), CheckpointInterval: 1}
	q := open(t, cfg)
	l := newLoad(t, q, 1)
	s := newSink(t, q, "g", queue.Start{})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.receive(ctx, commits, 10*time.Millisecond) }()
	type work struct{ requests, mallocs int64 }
	var parts []work
	level := func() work {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		r := store.Requests()
		return work{r.Put + r.PutIfAbsent + r.List, int64(m.Mallocs)}
	}
	for before := level(); len(parts) < 10; {
		n := part * len(parts)
		if err := l.send(ctx, n, n+part, 0); err != nil {
			t.Fatal(err)
		}
		now := level()
		parts = append(parts, work{now.requests - before.requests, now.mallocs - before.mallocs})
		before = now
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	s.checkOnce(t, 1, commits)
	first, last := parts[0], parts[len(parts)-1]
	// Two PUTs a commit; the checkpoint and its pointer are two more.
	if last.requests > first.requests+4 || last.requests > int64(2*part+4) {
		t.Errorf("the first %d commits made %d requests, the last ones %d", part, first.requests, last.requests)
	}
	// A checkpoint grows with the table, by some allocations a file.
	if last.mallocs > 2*first.mallocs+int64(50*commits) {
		t.Errorf("the first %d commits made %d allocations, the last ones %d", part, first.mallocs, last.mallocs)
	}
	q.Close()
	if n := l.event("checkpoint"); n < 5 {
		t.Errorf("%d checkpoints of %d commits: %v", n, commits, l.events)
	}

	counted, f := withFaults(store)
	cfg.Store = counted
	heir := open(t, cfg)
	newLoad(t, heir, 1)
	if n := f.count("GET", ".json"); n > 3*part {
		t.Errorf("who opens a table of %d versions reads %d of them", commits, n)
	}
	mid := newSink(t, heir, "mid", queue.Start{Kind: queue.StartOffset, Offset: int64(commits)/2 + 1})
	if err := mid.receive(deadline(t), commits/2, 10*time.Millisecond); err != nil {
		t.Error(err)
	}
	if _, ok := mid.count[[2]uint32{1, uint32(commits/2 - 1)}]; ok || mid.count[[2]uint32{1, uint32(commits / 2)}] != 1 {
		t.Errorf("a reader from the middle got %d messages, from another one on", mid.total)
	}
	var times []time.Duration
	for _, tr := range l.traces {
		times = append(times, tr.Took[queue.StageCommitPut])
	}
	row.Happened = fmt.Sprintf("%d requests of the first tenth, %d of the last; each message once", first.requests, last.requests)
	t.Logf("median commit PUT of the first and the last %d: %v, %v", part, medianOf(times[:part]), medianOf(times[len(times)-part:]))
}
