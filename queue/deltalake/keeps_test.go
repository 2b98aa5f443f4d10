package deltalake

import (
	"testing"

	"queuebench/queue"
)

// What an outage made large is given up when all is small again: by each batch and
// each data file in its turn, also by those that were only needed meanwhile.
func TestMemoryOfAnOutageIsGivenUp(t *testing.T) {
	const several, large = 6, 8 << 20
	cfg, err := Config{Store: newMemStore(), Name: "q"}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEncoder(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{encoder: e}
	held := func() (bytes int) {
		for _, b := range w.free {
			bytes += cap(b.data) + cap(b.copied)
		}
		return bytes
	}
	use := func(n, size int) {
		var all []*batch
		for range n {
			b := w.spare()
			b.put(make([]byte, size))
			b.copied = append(b.copied, b.data...) // as a compressed file would
			w.bytes += b.bytes
			all = append(all, b)
		}
		for _, b := range all {
			w.recycle(b)
		}
	}
	use(several, large)
	if got := held(); got < several*large {
		t.Fatalf("%d batches keep %d bytes: nothing was large", len(w.free), got)
	}
	for range several {
		use(1, 1000)
	}
	if got := held(); len(w.free) != several || got > 2*several*smallBody {
		t.Errorf("%d batches keep %d bytes", len(w.free), got)
	}

	files := &tail{t: &table{cfg: &cfg}, reads: true}
	get := func(n, size, messages int) {
		var all []*fetched
		for range n {
			f := files.spare(queue.Trace{})
			f.makeRoom(int64(size))
			f.body = f.body[:size]
			f.deliveries = append(f.deliveries[:0], make([]queue.Delivery, messages)...)
			all = append(all, f)
		}
		for _, f := range all {
			files.giveBack(f)
		}
	}
	get(several, large, 100_000)
	for range several {
		get(1, 1000, 10)
	}
	bytes, deliveries := 0, 0
	for _, f := range files.free {
		bytes, deliveries = bytes+cap(f.body), deliveries+cap(f.deliveries)
	}
	if len(files.free) != several || bytes > several*smallBody || deliveries > several*fewDeliveries {
		t.Errorf("%d files keep %d bytes and %d deliveries", len(files.free), bytes, deliveries)
	}
}
