package deltalake

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"queuebench/objectstore"
	"queuebench/queue"
)

// unordered lists as S3 Express One Zone does: in no order, and without a start
// that it would heed but for what the store's client leaves out.
type unordered struct{ objectstore.Store }

func (s unordered) Sub(prefix string) objectstore.Store { return unordered{s.Store.Sub(prefix)} }

func (s unordered) List(ctx context.Context, opt objectstore.ListOptions, yield func(objectstore.Info) error) error {
	limit := opt.Limit
	opt.Limit = 0
	var all []objectstore.Info
	if err := s.Store.List(ctx, opt, func(i objectstore.Info) error { all = append(all, i); return nil }); err != nil {
		return err
	}
	rand.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	for i, info := range all {
		if limit > 0 && i >= limit {
			return nil
		}
		if err := yield(info); err != nil {
			return err
		}
	}
	return nil
}

// No order of a LIST is relied on: opening, every start, resuming, checkpoints
// and gaps are the same.
func TestListingsInNoOrder(t *testing.T) {
	conformance(t, unordered{folder(t)}, Config{})
	cfg := Config{Store: unordered{folder(t)}, Name: "table", AppID: "app", CommitInterval: 2 * time.Millisecond, CheckpointCommits: 5, CheckpointInterval: 1}
	for round := range 4 {
		l := newLoad(t, open(t, cfg), 1)
		if err := l.send(deadline(t), 0, 20*(round+1), time.Millisecond); err != nil {
			t.Fatal(err)
		}
		l.p.Close()
	}
	q := open(t, cfg)
	sink := newSink(t, q, "g", queue.Start{})
	if err := sink.receive(deadline(t), 80, 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	sink.checkOnce(t, 1, 80)
	s, err := q.tables[0].snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	oldest, newest, err := q.tables[0].versions(t.Context())
	if err != nil || oldest != 0 || newest != s.version {
		t.Errorf("versions %d to %d, %v; the newest is %d", oldest, newest, err, s.version)
	}

	h := &byHand{t, unordered{folder(t)}}
	tb := &byHand{t, h.store.Sub("table/")}
	tb.version(0, protocolLine, metaDataLine)
	for _, v := range []int64{1, 2, 3, 5, 6, 7, 8} {
		key := fmt.Sprintf("%d.parquet", v)
		tb.version(v, tb.data(key, key, true, fmt.Sprint(v)))
	}
	got, err := received(t, Config{Store: h.store, Name: "table"}, queue.Start{})
	if !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("received %q", got)
	}
	checkFails(t, got, err, ErrGap, "version 4", "1", "2", "3")
}
