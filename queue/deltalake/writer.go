package deltalake

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"queuebench/queue"
)

// writer is the one writer of a table. All producers of a queue share it, so
// that their messages are committed together: several writers on one log
// collapse (56 of 400 commits a second at eight writers).
//
// Three goroutines pass batches on. The cutter ends a batch when the timer
// fires or the batch is full, and encodes it; a PUT per batch stores its data;
// the committer commits one batch after the other, in order. So the data of
// one batch is stored while another one is committed.
type writer struct {
	t         *table
	id        string // makes the names of data files unique
	committer committer
	encoder   *encoder
	ctx       context.Context
	cancel    context.CancelFunc
	wg        sync.WaitGroup
	full      chan struct{} // a batch was sealed before its time
	slots     chan struct{} // one for each batch under way
	commits   chan *batch

	mu       sync.Mutex
	open     *batch   // being filled
	sealed   []*batch // full, waiting for the cutter, in order
	free     []*batch
	bytes    int64 // of payload, open, sealed or under way
	refs     []*Producer
	underWay []*batch // between cutter and committer, in order
	err      error    // fatal
	// counts are the messages of each producer that are in the table or under
	// way to it, if the producers have names; else nil.
	counts map[string]int64
	events []queue.Event

	number int64         // of the next batch, from 0; the cutter's
	acks   []producerAck // the committer's

	checkpoints checkpointer
}

// openWriter opens the table and starts the goroutines. They end with close.
func openWriter(ctx context.Context, t *table) (*writer, error) {
	e, err := newEncoder(t.cfg)
	if err != nil {
		return nil, err
	}
	w := &writer{
		t: t, id: uuid.NewString(), encoder: e, full: make(chan struct{}, 1), open: newBatch(e.pageBytes()),
		slots: make(chan struct{}, t.cfg.Pipeline), commits: make(chan *batch, t.cfg.Pipeline),
	}
	s, created, err := t.openForWriting(ctx, w.event)
	if err != nil {
		return nil, err
	}
	s.tellUnread(w.event)
	if t.cfg.Tuned != "" && t.partition == 0 {
		w.event("tuned", t.cfg.Tuned)
	}
	w.checkpoints = newCheckpointer(t, s)
	w.committer = committer{t: t, appID: "queuebench-" + w.id, next: s.version + 1, event: w.event, seen: w.checkpoints.seen}
	if t.cfg.AppID != "" {
		if err := w.resume(ctx, s, created); err != nil {
			return nil, err
		}
	}
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	w.wg.Go(w.cut)
	w.wg.Go(w.commitAll)
	return w, nil
}

// event tells a producer; what happens before there is one is kept for it.
func (w *writer) event(kind, text string) {
	w.mu.Lock()
	var to *Producer
	for _, p := range w.refs {
		if p.cfg.Event != nil {
			to = p
			break
		}
	}
	e := queue.Event{Kind: kind, Text: fmt.Sprintf("partition %d: %s", w.t.partition, text)}
	if to == nil && len(w.refs) == 0 {
		w.events = append(w.events, e)
	}
	w.mu.Unlock()
	if to != nil {
		to.event(e)
	}
}

// close ends the goroutines, and whatever they have under way.
func (w *writer) close() {
	w.cancel()
	w.wg.Wait()
}

// tellEarlyEvents tells what happened before there was a producer to tell.
func (w *writer) tellEarlyEvents(p *Producer) {
	w.mu.Lock()
	events := w.events
	w.events = nil
	w.mu.Unlock()
	for _, e := range events {
		p.event(e)
	}
}
