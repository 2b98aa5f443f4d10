//go:build !js

package analysis

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
)

// memoryStore takes what logwriter stores.
type memoryStore struct {
	objectstore.Store // nil: nothing else is called
	mu                sync.Mutex
	objects           memorySource
}

func (s *memoryStore) Put(_ context.Context, key string, body []byte, _ objectstore.PutOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = append([]byte(nil), body...)
	return nil
}

func (s *memoryStore) PutFile(ctx context.Context, key string, r io.ReaderAt, size int64, opt objectstore.PutOptions) error {
	body := make([]byte, size)
	if _, err := r.ReadAt(body, 0); err != nil && err != io.EOF {
		return err
	}
	return s.Put(ctx, key, body, opt)
}

// rows are those of one repeat of one step; the actors are taken from the rows.
type rows struct {
	sent     []rawlog.SentRow
	received []rawlog.ReceivedRow
	seconds  []rawlog.SecondRow
	batches  []rawlog.BatchRow
	events   []rawlog.EventRow
}

// logOf writes a run of steps through the real writer, in parts of so many
// rows. The manifest's accounting is the plain count of the rows.
func logOf(t testing.TB, partRows int, rate float64, duration time.Duration, steps ...rows) (memorySource, *rawlog.Manifest) {
	t.Helper()
	store := &memoryStore{objects: memorySource{}}
	id := clock.Identity{Host: "one", BootID: "b", AnchorNs: 1}
	l, err := logwriter.New(logwriter.Options{Store: store, Run: "run-1", Clock: id, SpoolDir: t.TempDir(), PartRows: partRows, PartAge: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	m := &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: "run-1", Complete: true, StartedNs: testStart, Clock: id,
		Queue: queue.Info{Kind: "test", Partitions: 1, LosesNothing: true, DeliversOnce: true}, Settings: map[string]string{}}
	for i, r := range steps {
		writeRows(l, i, r)
		e := rawlog.Step{Step: i, Rate: rate, Settings: map[string]string{}, StartedNs: testStart, DurationNs: int64(duration),
			DeadlineNs: testStart + int64(duration+30*time.Second), Complete: true}
		var naive naive
		if _, bench := t.(*testing.B); !bench {
			naive = naiveJoin(r, 0, nil)
		}
		e.Groups, e.Producers = naive.groups, max(1, naive.producers)
		a := naive.accounting
		e.Accounting = rawlog.Accounting{Scheduled: a.Scheduled, Attempted: a.Attempted, Acked: a.Acked, Failed: a.Failed, Unconfirmed: a.Unconfirmed,
			Overrun: a.Overrun, Received: a.Received, Lost: a.Lost, Duplicates: a.Duplicates, OutOfOrder: a.OutOfOrder}
		m.Steps = append(m.Steps, e)
	}
	if _, err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range m.Steps {
		m.Steps[i].Parts = l.Parts(i, 0)
	}
	store.objects.put(t, m)
	return store.objects, m
}

func writeRows(l *logwriter.Log, step int, r rows) {
	sent := map[int32]*logwriter.SentWriter{}
	for _, row := range r.sent {
		if sent[row.Producer] == nil {
			sent[row.Producer] = l.Sent(step, 0, actor("producer", row.Producer))
		}
		sent[row.Producer].SetWatermark(row.IntendedNs)
		sent[row.Producer].Append(row)
	}
	received := map[int32]*logwriter.ReceivedWriter{}
	for _, row := range r.received {
		if received[row.Consumer] == nil {
			received[row.Consumer] = l.Received(step, 0, actor("consumer", row.Consumer))
		}
		received[row.Consumer].SetWatermark(row.ReceivedNs)
		received[row.Consumer].Append(row)
	}
	seconds, batches, events := l.Seconds(step, 0, "process"), l.Batches(step, 0, "process"), l.Events(step, 0, "process")
	for _, row := range r.seconds {
		seconds.Append(row)
	}
	for _, row := range r.batches {
		batches.Append(row)
	}
	for _, row := range r.events {
		events.Append(row)
	}
}
