package deltalake

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"queuebench/queue"
)

// Memory is used for one data file after the other, in every codec, and what a
// Receive handed out stays as it is until the next one.
func TestMemoryOfFilesIsUsedAgain(t *testing.T) {
	for _, codec := range []Codec{None, Snappy} {
		q := open(t, Config{Store: folder(t), Name: "q", CommitInterval: 2 * time.Millisecond, PollInterval: time.Millisecond, Codec: codec})
		c, err := q.Consumer(deadline(t), queue.ConsumerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := q.Producer(t.Context(), queue.ProducerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		text := func(i int) string { return fmt.Sprint(i, strings.Repeat("x", i%977)) }
		const files = 60
		next, bodies := 0, map[*byte]bool{}
		for k := range files {
			first := next
			var batch []queue.Message
			for range 1 + (k*k)%97 {
				batch = append(batch, queue.Message{Payload: []byte(text(next)), Partition: queue.AnyPartition})
				next++
			}
			if _, err := p.Send(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			if err := p.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			for first < next {
				ds, err := c.Receive(deadline(t))
				if err != nil {
					t.Fatal(err)
				}
				for i := range ds {
					if string(ds[i].Payload) != text(first) {
						t.Fatalf("%s: message %d is %.20q", codec, first, ds[i].Payload)
					}
					first++
				}
				bodies[&c.(*Consumer).last.body[0]] = true
			}
		}
		if len(bodies) > files/2 {
			t.Errorf("%s: %d files took memory %d times", codec, files, len(bodies))
		}
		c.Close()
		p.Close()
	}
}

// What one large file took is not kept for small ones.
func TestMemoryOfALargeFileGoes(t *testing.T) {
	large := &fetched{deliveries: make([]queue.Delivery, 100_000), body: make([]byte, 10_000_000)}
	small := &fetched{deliveries: large.deliveries[:10], body: large.body[:1000]}
	for i := range large.deliveries {
		large.deliveries[i].Payload = large.body
	}
	tail := &tail{t: &table{cfg: &Config{ReadAhead: 1}}, reads: true}
	tail.recycle(large)
	f := tail.spare(queue.Trace{})
	if cap(f.deliveries) != 100_000 || cap(f.body) != 10_000_000 {
		t.Errorf("there is room for %d messages and %d bytes", cap(f.deliveries), cap(f.body))
	}
	// Memory that is too small goes, and nothing points to it any more.
	f.makeRoom(20_000_000)
	if cap(f.body) < 20_000_000 || f.deliveries[:100_000][99_999].Payload != nil {
		t.Errorf("there is room for %d bytes, and the old ones are held by %.10v", cap(f.body), f.deliveries[:100_000][99_999].Payload)
	}
	// A size that only the log tells is not believed.
	if f.makeRoom(1 << 60); f.body != nil {
		t.Error("memory was taken for a file that is not there")
	}
	tail.recycle(small)
	if f := tail.spare(queue.Trace{}); cap(f.deliveries) > 0 || cap(f.body) > 0 {
		t.Errorf("room for %d messages and %d bytes was kept", cap(f.deliveries), cap(f.body))
	}
}
