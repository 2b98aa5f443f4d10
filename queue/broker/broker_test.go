package broker

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"queuebench/queue"
)

// TestEachMessageHasOneFate takes and settles at random, some messages twice and
// some never, from several goroutines.
func TestEachMessageHasOneFate(t *testing.T) {
	const size, total = 300, 20000
	fates := make([]int, total)
	offsets := make([]int64, total)
	var busy sync.Mutex
	w := NewWindow(size, func(acks []queue.Ack) {
		if !busy.TryLock() {
			t.Error("Acked was called by two at once")
			return
		}
		defer busy.Unlock()
		for _, a := range acks {
			for i := range a.N {
				fates[a.First+i]++
				offsets[a.First+i] = a.Offset + i*a.OffsetStep
			}
		}
	})
	todo := make(chan int64, total)
	var working sync.WaitGroup
	for k := range 3 {
		working.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(k)))
			var held []int64
			settle := func() {
				r.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
				var acks []queue.Ack
				for _, n := range held {
					acks = append(acks, queue.Ack{First: n, N: 1, Offset: 10 * n, OffsetStep: 10})
					if r.IntN(9) == 0 {
						acks = append(acks, queue.Ack{First: n - 5, N: 6, Offset: 10 * (n - 5), OffsetStep: 10}) // also those of others
					}
				}
				held = held[:0]
				w.Settle(acks)
			}
			for {
				select {
				case n, more := <-todo:
					if !more {
						settle()
						return
					}
					held = append(held, n)
				default: // the window may be full of what is held
					settle()
					runtime.Gosched()
				}
				if len(held) > r.IntN(40) {
					settle()
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(2, 2))
	for sent := int64(0); sent < total; {
		first, n, err := w.Take(t.Context(), 1+r.IntN(int(min(50, total-sent))))
		if err != nil || first != sent || n < 1 {
			t.Fatalf("Take: %d, %d, %v; %d were taken", first, n, err, sent)
		}
		if r.IntN(5) == 0 && n > 1 {
			w.Return(1)
			n--
		}
		for i := range n {
			todo <- first + int64(i)
		}
		sent += int64(n)
		if p := w.Pending(); p < 0 || p > size+64 {
			t.Fatalf("%d messages are pending in a window of %d", p, size)
		}
	}
	close(todo)
	working.Wait()
	if err := w.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, n := range fates {
		if n != 1 || offsets[i] != int64(10*i) {
			t.Fatalf("message %d has %d fates, offset %d", i, n, offsets[i])
		}
	}
}

func TestAWindowThatIsFullMakesWait(t *testing.T) {
	w := NewWindow(64, nil)
	if _, n, err := w.Take(t.Context(), 100); n != 64 || err != nil {
		t.Fatalf("Take: %d, %v", n, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	w.Settle([]queue.Ack{{First: 10, N: 54}}) // the window begins at the first without a fate
	if _, _, err := w.Take(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Take of a full window: %v", err)
	}
	done := make(chan error, 1)
	go func() { _, _, err := w.Take(t.Context(), 1); done <- err }()
	w.Settle([]queue.Ack{{First: 0, N: 10}})
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAClosedWindowFailsWhatIsPending(t *testing.T) {
	var got []queue.Ack
	w := NewWindow(100, func(a []queue.Ack) { got = append(got, a...) })
	w.Take(t.Context(), 10)
	w.Settle([]queue.Ack{{First: 3, N: 2, Partition: 1, Offset: -1}})
	gone := errors.New("gone")
	flushed := make(chan error, 1)
	go func() { flushed <- w.Flush(t.Context()) }()
	w.Close(gone)
	w.Settle([]queue.Ack{{First: 0, N: 10}})
	want := []queue.Ack{{First: 3, N: 2, Partition: 1, Offset: -1}, {First: 0, N: 3, Partition: -1, Offset: -1, Err: gone}, {First: 5, N: 5, Partition: -1, Offset: -1, Err: gone}}
	if !slices.Equal(got, want) {
		t.Errorf("the fates are %+v", got)
	}
	if err := <-flushed; !errors.Is(err, queue.ErrClosed) {
		t.Errorf("Flush: %v", err)
	}
	if _, _, err := w.Take(t.Context(), 1); !errors.Is(err, queue.ErrClosed) || w.Pending() != 0 {
		t.Errorf("Take: %v, %d pending", err, w.Pending())
	}
}

func TestInboxKeepsOrder(t *testing.T) {
	b := NewInbox[int]()
	const total = 10000
	go func() {
		for i := 0; i < total; i += 2 {
			b.Put(i, i+1)
		}
		b.Fail(errors.New("the end"))
	}()
	next := 0
	for {
		batch, err := b.Take(t.Context(), 7)
		if err != nil {
			if next != total || err.Error() != "the end" {
				t.Errorf("%d of %d came, then %v", next, total, err)
			}
			break
		}
		if len(batch) < 1 || len(batch) > 7 {
			t.Fatalf("a batch of %d", len(batch))
		}
		for _, n := range batch {
			if n != next {
				t.Fatalf("%d came in place of %d", n, next)
			}
			next++
		}
	}
	b = NewInbox[int]()
	b.Put(1, 2, 3)
	b.Take(t.Context(), 1)
	b.Put(4)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Take(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Take with a context that has ended: %v", err)
	}
	b.Close()
	if _, err := b.Take(t.Context(), 1); !errors.Is(err, queue.ErrClosed) {
		t.Errorf("Take of a closed inbox: %v", err)
	}
	if got := b.Left(); !slices.Equal(got, []int{2, 3, 4}) {
		t.Errorf("%v are left", got)
	}
}

func TestFilesOfIdentity(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []Identity{{CAFile: path}, {CAFile: path + "x"}, {CertFile: path}, {KeyFile: path}, {CertFile: path, KeyFile: path}} {
		if _, err := id.TLSConfig(false); err == nil {
			t.Errorf("%+v was not refused", id)
		}
	}
	if cfg, err := (Identity{}).TLSConfig(false); cfg != nil || err != nil {
		t.Errorf("TLS that nobody asks for: %v, %v", cfg, err)
	}
	if cfg, err := (Identity{}).TLSConfig(true); cfg == nil || err != nil {
		t.Errorf("TLS that the address asks for: %v, %v", cfg, err)
	}
}

func TestPartitions(t *testing.T) {
	any := queue.AnyPartition
	seen := map[int32]bool{}
	for i := range 100 {
		m := queue.Message{Key: []byte{byte(i)}, Partition: any}
		k := Partition(&m, 4, i)
		if k != Partition(&m, 4, i+1) || k < 0 || k > 3 {
			t.Fatalf("key %d is in partition %d and another", i, k)
		}
		seen[k] = true
	}
	if len(seen) != 4 {
		t.Errorf("100 keys are in %d of 4 partitions", len(seen))
	}
	if k := Partition(&queue.Message{Partition: any}, 4, 6); k != 2 {
		t.Errorf("turn 6 of 4 is partition %d", k)
	}
}

func BenchmarkWindow(b *testing.B) {
	w := NewWindow(4096, func([]queue.Ack) {})
	acks := make([]queue.Ack, 100)
	b.ReportAllocs()
	for b.Loop() {
		first, n, _ := w.Take(b.Context(), 100)
		for i := range n {
			acks[i] = queue.Ack{First: first + int64(i), N: 1, Offset: first + int64(i), OffsetStep: 1}
		}
		w.Settle(acks[:n])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/message")
}
