package deltalake

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"queuebench/queue"
)

// The writers and the reader of an exploration.

func (w *world) config(actor, appID string) Config {
	const never = 1e6 * time.Hour
	return Config{
		Store: &gate{Store: w.store, w: w, actor: actor}, Name: "table", AppID: appID, Pipeline: 1, FixedPhase: true,
		runtimeTimers: true, CommitInterval: never, BatchMessages: 1, PollInterval: time.Second, CloseGrace: time.Nanosecond, CheckpointCommits: -1,
		RequestTimeout: never, RetryFor: never, GapAfter: never, Clock: w.clock,
	}
}

func (w *world) start(actor, appID string, run func(ctx context.Context, q *Queue) error) {
	q, err := New(w.config(actor, appID))
	if err != nil {
		w.t.Fatal(err)
	}
	q.isFit = true // the probe is no part of the protocol
	ctx, cancel := context.WithCancel(w.ctx)
	w.cancel = append(w.cancel, func() { cancel(); q.Close() })
	w.running.Go(func() {
		err := run(ctx, q)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.finished[actor] = true
		if err != nil && ctx.Err() == nil {
			w.failed[actor] = err
		}
	})
}

// writer starts the next life of a writer, which sends its messages from the
// first on.
func (w *world) writer(name string) {
	w.lives[name]++
	actor := fmt.Sprint(name, w.lives[name])
	w.start(actor, name, func(ctx context.Context, q *Queue) error {
		sent := []string{}
		var failed error
		p, err := q.Producer(ctx, queue.ProducerConfig{Acked: func(acks []queue.Ack) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, a := range acks {
				if failed = a.Err; failed == nil {
					w.acked[sent[a.First]] = true
				}
			}
		}})
		if err != nil {
			return err
		}
		for i := range w.scope.commits {
			sent = append(sent, fmt.Sprint(name, ".", i))
			if _, err := p.Send(ctx, []queue.Message{{Payload: []byte(sent[i]), Partition: queue.AnyPartition}}); err != nil {
				return err
			}
			if err := cmp.Or(p.Flush(ctx), failed); err != nil {
				return err
			}
		}
		return nil
	})
}

// reader starts the next life of the reader, behind what the last was handed.
func (w *world) reader() {
	w.lives["r"]++
	actor := fmt.Sprint("r", w.lives["r"])
	w.mu.Lock()
	from := queue.Start{Kind: queue.StartOffset, Offset: w.gotTo + 1}
	w.mu.Unlock()
	w.start(actor, "", func(ctx context.Context, q *Queue) error {
		c, err := q.Consumer(ctx, queue.ConsumerConfig{Start: from})
		for err == nil {
			var ds []queue.Delivery
			ds, err = c.Receive(ctx)
			w.mu.Lock()
			if w.lives["r"] == int(actor[1]-'0') { // else nobody listens to it
				for _, d := range ds {
					w.got, w.gotTo = append(w.got, string(d.Payload)), d.Offset
				}
			}
			w.mu.Unlock()
		}
		return err
	})
}
