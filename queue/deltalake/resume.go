package deltalake

import (
	"context"
	"fmt"
	"strings"
	"time"

	"queuebench/queue"
)

// A queue with an AppID survives its process. Each commit says in txn actions
// how many messages of each of its producers are in the table then, under the
// name AppID:ID. A producer that is opened again hands over the same messages in
// the same order from the first on, and those that are in are passed over.
//
// What a former process has under way must not arrive after they were counted.
// So the first thing that a writer commits is a txn under AppID:writer, which
// takes the version that such a commit is under way to. Whoever finds a version
// taken by a txn with its own AppID was replaced, and stops.

// writerName is the name of the txn by which a writer replaces another one. Its
// version is the number of the opening.
func writerName(appID string) string { return appID + ":writer" }

// producerName is the name of a producer's txn. With another number of
// partitions other messages would fall into this one, so the number is a part.
func producerName(cfg *Config, id int) string {
	name := fmt.Sprintf("%s:%d", cfg.AppID, id)
	if cfg.Partitions > 1 {
		name += fmt.Sprintf("/%d", cfg.Partitions)
	}
	return name
}

// isOurs says whether a txn is one of a writer with the AppID.
func isOurs(appID, name string) bool {
	return name == appID || strings.HasPrefix(name, appID+":")
}

// resume replaces whoever wrote under the AppID, and counts what is in.
func (w *writer) resume(ctx context.Context, s *snapshot, created bool) error {
	cfg := w.t.cfg
	w.committer.appID = cfg.AppID
	if !created {
		name := writerName(cfg.AppID)
		w.committer.opening = true
		_, _, err := w.committer.commit(ctx, "OPEN", action{Txn: &txn{AppID: name, Version: s.txns[name].Version + 1, LastUpdated: cfg.Clock.Now() / 1e6}})
		if err != nil {
			return err
		}
		w.committer.opening = false
	}
	w.counts = map[string]int64{}
	for name, t := range s.txns { // with what was seen while replacing
		if !isOurs(cfg.AppID, name) || name == writerName(cfg.AppID) {
			continue
		}
		_, partitions, _ := strings.Cut(name, "/")
		if of := fmt.Sprint(cfg.Partitions); partitions != of && !(partitions == "" && cfg.Partitions == 1) {
			return fmt.Errorf("deltalake: table %s was written under AppID %s with another number of partitions than %s: its messages cannot be counted", w.t.name, cfg.AppID, of)
		}
		w.counts[name] = t.Version
	}
	return nil
}

// join adds a producer, and returns how many of its messages are in the table.
// Those that a closed producer of the same name left under way are waited for.
func (w *writer) join(ctx context.Context, p *Producer) (int64, error) {
	for {
		w.mu.Lock()
		busy := false
		for _, b := range w.underWay {
			for i := range b.txns {
				busy = busy || w.counts != nil && b.txns[i].AppID == p.name
			}
		}
		if !busy || w.err != nil {
			defer w.mu.Unlock()
			for _, o := range w.refs {
				if w.counts != nil && o.name == p.name {
					return 0, fmt.Errorf("deltalake: a producer with ID %d is open, and with an AppID each needs its own", p.cfg.ID)
				}
			}
			w.refs = append(w.refs, p)
			return w.counts[p.name], nil
		}
		w.mu.Unlock()
		if err := sleep(ctx, time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// passOver acknowledges messages that are in the table already, and returns how
// many of the batch these are.
func (p *Producer) passOver(w *writer, batch []queue.Message) int {
	k := w.t.partition
	n := min(p.in[k], int64(len(batch)))
	if n == 0 {
		return 0
	}
	p.in[k] -= n
	ack := queue.Ack{First: p.taken, N: n, Offset: -1}
	p.taken += n
	p.pending.Add(n)
	p.settle(k, []producerAck{{p, ack}})
	return int(n)
}
