package deltalake

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/internal/reliability"
	"queuebench/objectstore"
	"queuebench/queue"
)

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// Several writers race for the versions of one log, each a queue of its own,
// as in several processes.
func TestSeveralWritersOnOneLog(t *testing.T) {
	row := reliability.Try(t, reliability.Row{
		ID: "delta/several-writers", What: "two and eight writers race for the versions of one Delta log", Often: "400 messages each", Effort: 400,
		Holds: "each message once, no version twice, nothing failed",
	})
	var all []string
	for _, writers := range []int{2, 8} {
		store := folder(t)
		n := 400 / writers
		cfg := Config{Store: store, Name: "shared", CommitInterval: 4 * time.Millisecond}
		reader := open(t, cfg)
		s := newSink(t, reader, "g", queue.Start{})
		var wg sync.WaitGroup
		var loads []*load
		for i := range writers {
			loads = append(loads, newLoad(t, open(t, cfg), i))
		}
		errs := make([]error, writers)
		for i, l := range loads {
			wg.Go(func() { errs[i] = l.send(deadline(t), 0, n, time.Millisecond) })
		}
		if err := s.receive(deadline(t), writers*n, 50*time.Millisecond); err != nil {
			t.Errorf("%d writers: %v", writers, err)
		}
		wg.Wait()
		conflicts := 0
		for i, l := range loads {
			if errs[i] != nil {
				t.Errorf("%d writers: Send of writer %d: %v", writers, i, errs[i])
			}
			s.checkOnce(t, i, n)
			if failed, err := l.failed(); failed > 0 || len(l.acked) != n {
				t.Errorf("writer %d: %d of %d messages have a fate, %d failed: %v", i, len(l.acked), n, failed, err)
			}
			conflicts += l.event("conflict")
		}
		if conflicts == 0 {
			t.Errorf("%d writers on one log had no conflict: they did not race", writers)
		}
		all = append(all, fmt.Sprintf("%d conflicts of %d writers", conflicts, writers))
		s.c.Close()
	}
	row.Happened = strings.Join(all, ", ") + "; each message once"
}

// A writer that was replaced under its AppID wakes up: it must stop, and none
// of its messages may come after those of its replacement.
func TestZombieIsFenced(t *testing.T) {
	store := folder(t)
	cfg := Config{Store: store, Name: "table", AppID: "producer-7", CommitInterval: 2 * time.Millisecond}
	zombie := newLoad(t, open(t, cfg), 1)
	if err := zombie.send(deadline(t), 0, 50, 0); err != nil {
		t.Fatal(err)
	}
	heir := newLoad(t, open(t, cfg), 2)
	if err := zombie.send(deadline(t), 50, 60, 0); err == nil {
		_ = zombie.p.Flush(deadline(t))
	}
	failed, err := zombie.failed()
	if failed != 10 || !errors.Is(err, ErrFenced) {
		t.Errorf("%d of 10 messages of the zombie failed: %v", failed, err)
	}
	if _, err := zombie.p.Send(deadline(t), []queue.Message{{Payload: []byte("x"), Partition: queue.AnyPartition}}); !errors.Is(err, ErrFenced) {
		t.Errorf("Send of the zombie: %v", err)
	}
	if err := heir.send(deadline(t), 0, 50, 0); err != nil {
		t.Errorf("Send of the heir: %v", err)
	}
	s := newSink(t, heir.q, "g", queue.Start{})
	if err := s.receive(deadline(t), 100, 30*time.Millisecond); err != nil {
		t.Error(err)
	}
	s.checkOnce(t, 1, 50)
	s.checkOnce(t, 2, 50)
}

// A winner that changes the table ends a writer; others do not.
func TestWinnerThatChangesTheTable(t *testing.T) {
	for name, line := range map[string]string{
		"metaData": `{"metaData":{"id":"x","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[]}","partitionColumns":[],"configuration":{}}}`,
		"protocol": `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["deletionVectors"],"writerFeatures":["deletionVectors"]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			store := folder(t)
			l := newLoad(t, open(t, Config{Store: store, Name: "table"}), 1)
			put(t, store, "table/"+versionKey(1), line+"\n")
			_ = l.send(deadline(t), 0, 5, 0)
			if failed, err := l.failed(); failed != 5 || !errors.Is(err, ErrUnsupported) {
				t.Errorf("%d of 5 messages failed: %v", failed, err)
			}
		})
	}
}

func put(t testing.TB, store objectstore.Store, key, body string) {
	t.Helper()
	if err := store.Put(t.Context(), key, []byte(body), objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestConflictsAreBounded(t *testing.T) {
	store := folder(t)
	l := newLoad(t, open(t, Config{Store: store, Name: "table", MaxConflicts: 5}), 1)
	for v := range int64(10) {
		put(t, store, "table/"+versionKey(v+1), `{"commitInfo":{"timestamp":1,"txnId":"another"}}`+"\n")
	}
	_ = l.send(deadline(t), 0, 5, 0)
	if failed, err := l.failed(); failed != 5 || !errors.Is(err, ErrTooManyConflicts) {
		t.Errorf("%d of 5 messages failed: %v", failed, err)
	}
}

// forgetful is a store that overwrites whatever the condition says.
type forgetful struct{ objectstore.Store }

func (s forgetful) Put(ctx context.Context, key string, body []byte, opt objectstore.PutOptions) error {
	opt.IfAbsent = false
	return s.Store.Put(ctx, key, body, opt)
}

// secretive is a store that answers 403 to a miss, as S3 does without
// s3:ListBucket.
type secretive struct{ objectstore.Store }

func (s secretive) Get(ctx context.Context, key string) ([]byte, objectstore.Info, error) {
	b, i, err := s.Store.Get(ctx, key)
	if errors.Is(err, objectstore.ErrNotFound) {
		err = objectstore.ErrDenied
	}
	return b, i, err
}

func TestUnfitStoresAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		store objectstore.Store
		says  string
	}{
		"no conditional PUT": {forgetful{folder(t)}, "If-None-Match"},
		"403 for a miss":     {secretive{folder(t)}, "s3:ListBucket"},
	} {
		q := open(t, Config{Store: c.store, Name: "table"})
		for _, err := range []error{
			q.Create(t.Context()),
			func() error { _, err := q.Producer(t.Context(), queue.ProducerConfig{}); return err }(),
			func() error { _, err := q.Consumer(t.Context(), queue.ConsumerConfig{}); return err }(),
		} {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// On the way of a message nothing is listed and nothing is asked for its head;
// a commit is one PUT of data and one conditional PUT, then one GET each.
func TestRequestsOnTheWay(t *testing.T) {
	s, f := withFaults(folder(t))
	q := open(t, Config{Store: s, Name: "table"})
	l := newLoad(t, q, 1)
	sink := newSink(t, q, "g", queue.Start{})
	f.mu.Lock()
	f.log = nil
	f.mu.Unlock()
	if err := l.send(deadline(t), 0, 300, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := sink.receive(deadline(t), 300, 10*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	commits := len(l.traces)
	if n := f.count("LIST", "") + f.count("HEAD", ""); n > 0 {
		t.Errorf("%d LIST and HEAD requests on the way", n)
	}
	for what, n := range map[string]int{
		"PUT of data": f.count("PUT ", "part-"), "conditional PUT": f.count("PUT-IF-ABSENT", ""), "GET of data": f.count("GET", "part-"),
	} {
		if n != commits {
			t.Errorf("%s: %d requests for %d commits", what, n, commits)
		}
	}
}

// The data of a batch are stored while the batch before is committed, and yet
// the commits keep the order of the batches.
func TestPipeline(t *testing.T) {
	s, f := withFaults(folder(t))
	committing, overlapped := false, false
	f.put = func(key string, ifAbsent bool) fault {
		if !ifAbsent {
			overlapped = overlapped || committing
			return fault{}
		}
		if isVersion0(key) || !isCommit(key) {
			return fault{}
		}
		committing = true
		return fault{before: func(ctx context.Context) error {
			err := sleep(ctx, 10*time.Millisecond)
			f.mu.Lock()
			committing = false
			f.mu.Unlock()
			return err
		}}
	}
	checkExactlyOnce(t, Config{Store: s, CommitInterval: 3 * time.Millisecond, Pipeline: 3}, 200)
	if !overlapped {
		t.Error("no data was stored while a commit was under way")
	}
}

func TestSendWaitsForMaxPending(t *testing.T) {
	s, f := withFaults(folder(t))
	f.put = func(key string, ifAbsent bool) fault {
		if ifAbsent && isCommit(key) && !isVersion0(key) {
			return fault{before: hang}
		}
		return fault{}
	}
	q := open(t, Config{Store: s, Name: "table", MaxPending: 1000, CloseGrace: 10 * time.Millisecond})
	l := newLoad(t, q, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	ms := make([]queue.Message, 15)
	for i := range ms {
		ms[i] = queue.Message{Payload: make([]byte, 100), Partition: queue.AnyPartition}
	}
	if n, err := l.p.Send(ctx, ms); n != 10 || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a writer that holds 1,000 B took %d of 15 messages of 100 B: %v", n, err)
	}
	if _, err := l.p.Send(t.Context(), []queue.Message{{Payload: make([]byte, 1001)}}); err == nil {
		t.Error("a message that can never fit was not refused")
	}
}

// The stages of both sides are all there, and none is negative.
func TestTraces(t *testing.T) {
	q := open(t, Config{Store: folder(t), Name: "table"})
	s := newSink(t, q, "g", queue.Start{})
	l := newLoad(t, q, 1)
	if err := l.send(deadline(t), 0, 100, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := s.receive(deadline(t), 100, 5*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	check := func(side string, traces []queue.Trace, stages ...queue.Stage) {
		messages, last := 0, int64(0)
		for _, tr := range traces {
			messages += tr.Messages
			if tr.Offset <= last || tr.Bytes <= 0 || tr.Tries < 1 || tr.Partition != 0 {
				t.Errorf("%s: %+v", side, tr)
			}
			last = tr.Offset
			for st := range queue.NumStages {
				want := false
				for _, w := range stages {
					want = want || w == st
				}
				if tr.Has[st] != want || tr.Took[st] < 0 {
					t.Errorf("%s: stage %v of version %d: has %v, took %v", side, st, tr.Offset, tr.Has[st], tr.Took[st])
				}
			}
		}
		if messages != 100 {
			t.Errorf("%s: the traces tell of %d messages of 100", side, messages)
		}
	}
	check("producer", l.traces, queue.StageWait, queue.StageEncode, queue.StageDataPut, queue.StageCommitPut)
	check("consumer", s.traces, queue.StageDiscover, queue.StageCommitGet, queue.StageDataGet, queue.StageDecode, queue.StageDeliver)
	if l.event("phase") != 1 {
		t.Errorf("the phase of the commit timer was not told once: %v", l.events)
	}
}

// Producers share a batch. One that is closed takes its messages back, and
// leaves those of the others alone.
func TestProducerLeavesASharedBatch(t *testing.T) {
	store, f := withFaults(folder(t))
	var hold atomic.Bool
	f.put = func(key string, ifAbsent bool) fault {
		return fault{before: func(ctx context.Context) error {
			for hold.Load() && isData(key) {
				if err := sleep(ctx, time.Millisecond); err != nil {
					return err
				}
			}
			return nil
		}}
	}
	q := open(t, Config{Store: store, Name: "table", CommitInterval: 5 * time.Millisecond, Pipeline: 1, CloseGrace: 10 * time.Millisecond})
	stays, leaves := newLoad(t, q, 1), newLoad(t, q, 2)
	hold.Store(true)
	send := func(l *load, from, to int) {
		for i := from; i < to; i++ {
			b := binary.LittleEndian.AppendUint32(nil, uint32(l.id))
			if _, err := l.p.Send(t.Context(), []queue.Message{{Payload: binary.LittleEndian.AppendUint32(b, uint32(i)), Partition: queue.AnyPartition}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	send(stays, 0, 10)
	for f.count("PUT ", "part-") == 0 { // the first batch is under way, and held
		time.Sleep(time.Millisecond)
	}
	for i := range 10 { // the second one waits, with messages of both in turn
		send(leaves, i, i+1)
		send(stays, 10+i, 11+i)
	}
	if err := leaves.p.Close(); err != nil {
		t.Fatal(err)
	}
	if failed, err := leaves.failed(); failed != 10 || !errors.Is(err, errAbandoned) {
		t.Errorf("%d of 10 messages of the closed producer failed: %v", failed, err)
	}
	hold.Store(false)
	if err := stays.p.Flush(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if failed, err := stays.failed(); failed != 0 || len(stays.acked) != 20 {
		t.Errorf("%d of the 20 messages of the other producer have a fate, %d failed: %v", len(stays.acked), failed, err)
	}
	s := newSink(t, q, "g", queue.Start{})
	if err := s.receive(deadline(t), 20, 20*time.Millisecond); err != nil {
		t.Error(err)
	}
	s.checkOnce(t, 1, 20)
}

// A store that stays away ends the writer in time, with all that is pending.
func TestStoreThatStaysAway(t *testing.T) {
	for name, c := range map[string]struct {
		broken  func(string) bool
		unknown bool
	}{"data": {isData, false}, "commits": {isCommit, true}} {
		store, f := withFaults(folder(t))
		var broken atomic.Bool
		f.put = func(key string, _ bool) fault {
			if broken.Load() && c.broken(key) {
				return fault{before: fail(errLost)}
			}
			return fault{}
		}
		q := open(t, Config{Store: store, Name: "table", RetryFor: 50 * time.Millisecond})
		l := newLoad(t, q, 1)
		broken.Store(true)
		_ = l.send(deadline(t), 0, 30, 0)
		if err := l.p.Flush(deadline(t)); err != nil {
			t.Errorf("%s: Flush: %v", name, err)
		}
		failed, err := l.failed()
		if failed != len(l.acked) || failed == 0 || errors.Is(err, ErrUnknownFate) != c.unknown || !errors.Is(err, errLost) {
			t.Errorf("%s: of %d messages %d failed: %v", name, len(l.acked), failed, err)
		}
		if _, err := l.p.Send(t.Context(), []queue.Message{{Partition: queue.AnyPartition}}); !errors.Is(err, errLost) {
			t.Errorf("%s: Send: %v", name, err)
		}
	}
}
