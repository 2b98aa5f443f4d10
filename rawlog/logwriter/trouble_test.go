package logwriter

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"queuebench/rawlog"
)

func TestUploadsAreTriedUntilTheyAreStored(t *testing.T) {
	store := newMemoryStore()
	store.fault = func(_ context.Context, key string, put int) error {
		if put <= 3 {
			return errors.New("the store is on fire")
		}
		return nil
	}
	l := newLog(t, store, nil)
	w := l.Sent(0, 0, "p")
	for i := range 10 {
		w.Append(sentRowN(i))
	}
	w.Close()
	if err := l.CloseStep(t.Context(), 0, 0); err != nil {
		t.Fatal(err)
	}
	if s := l.Stats(); s.UploadRetries != 3 || s.UploadError != "the store is on fire" || s.Stored != 1 {
		t.Errorf("stats are %+v", s)
	}
	unsent, err := l.Close(t.Context())
	if err != nil || len(unsent) > 0 {
		t.Errorf("unsent %v, %v", unsent, err)
	}
	if files := filesIn(l.opt.SpoolDir); len(files) > 0 {
		t.Errorf("the spool still has %v", files)
	}
	if _, err := os.Stat(l.opt.SpoolDir); err == nil {
		t.Error("the empty spool is still there")
	}
}

func TestWhatCannotBeStoredStaysInTheSpoolAndIsNamed(t *testing.T) {
	store := newMemoryStore()
	store.fault = func(ctx context.Context, key string, put int) error {
		if strings.HasPrefix(key, "sent/") {
			<-ctx.Done() // a store that does not answer
			return ctx.Err()
		}
		return nil
	}
	l := newLog(t, store, nil)
	sent, received := l.Sent(1, 2, "p"), l.Received(1, 2, "c")
	for i := range 10 {
		sent.Append(sentRowN(i))
		received.Append(rawlog.ReceivedRow{Seq: int64(i)})
	}
	sent.Close()
	received.Close()
	eventually(t, "the other part was stored", func() bool { return l.Stats().Stored == 1 })
	step, cancelStep := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancelStep()
	if err := l.CloseStep(step, 1, 2); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 files are not in the store yet") {
		t.Errorf("CloseStep: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	unsent, err := l.Close(ctx)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
	want := filepath.Join(l.opt.SpoolDir, "sent", "step=1", "repeat=2", "part-p-0.parquet")
	if len(unsent) != 1 || unsent[0] != want || err == nil {
		t.Fatalf("unsent %v, %v", unsent, err)
	}
	body, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := rawlog.OpenPart(rawlog.Memory(body)); err != nil || r.Rows() != 10 {
		t.Errorf("the spooled part: %v", err)
	}
	if files := filesIn(l.opt.SpoolDir); len(files) != 1 {
		t.Errorf("the spool has %v", files)
	}
	if l.Parts(1, 2)[0].Name != "sent/step=1/repeat=2/part-p-0.parquet" {
		t.Error("the manifest's list lacks a part that is in the spool")
	}
}

// A store that stands still fills the disk and not the memory, and nothing is
// lost to it.
func TestASlowStoreSpillsToDisk(t *testing.T) {
	store := newMemoryStore()
	release := make(chan struct{})
	let := sync.OnceFunc(func() { close(release) })
	t.Cleanup(let) // before that of the log, which would wait
	store.fault = func(ctx context.Context, _ string, _ int) error {
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	const partRows, n = 1 << 15, 20 << 15
	l := newLog(t, store, func(o *Options) { o.PartAge = time.Hour; o.PartRows = partRows; o.BacklogRows = 4 * largeChunk })
	w := l.Sent(0, 0, "p")
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	record := func(from, to int) {
		for i := from; i < to; i++ {
			row := sentRowN(i)
			row.SentNs += rng.Int64N(1_000_000) // so that a part is some bytes
			w.Append(row)
		}
	}
	record(0, 4*partRows) // the memory that it takes is there
	eventually(t, "the first parts were closed", func() bool { return l.Stats().Parts >= 3 })
	before := heap()
	record(4*partRows, n+1) // the last begins a chunk, by which the one before is taken
	eventually(t, "all parts were closed", func() bool { return l.Stats().Parts == n/partRows })
	grown := heap() - before
	s, files := l.Stats(), filesIn(l.opt.SpoolDir)
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, OpenSuffix) })
	if s.Stored != 0 || len(files) != n/partRows || s.Bytes < 1<<20 {
		t.Errorf("%d parts of %d bytes stored, %d files in the spool", s.Stored, s.Bytes, len(files))
	}
	if grown > 3<<20 { // another chunk or two
		t.Errorf("the heap grew by %d bytes while %d parts were waiting", grown, s.Parts)
	}
	let()
	w.Close()
	if err := l.CloseStep(t.Context(), 0, 0); err != nil {
		t.Fatal(err)
	}
	if rows := rowsOf(t, store, l.Parts(0, 0)); rows != n+1 {
		t.Errorf("%d rows, want %d", rows, n+1)
	}
}

// diskOf lets so many bytes be written, then the disk is full.
type diskOf struct {
	w    io.Writer
	left *int
}

func (d diskOf) Write(p []byte) (int, error) {
	if *d.left -= len(p); *d.left < 0 {
		return 0, syscall.ENOSPC
	}
	return d.w.Write(p)
}

func TestAFullDiskFailsTheLogAtOnce(t *testing.T) {
	store := newMemoryStore()
	l := newLog(t, store, func(o *Options) { o.PartAge = time.Hour; o.PartRows = 20_000; o.BacklogRows = 40_000 })
	left := 100_000
	l.spool.wrap = func(_ string, w io.Writer) io.Writer { return diskOf{w, &left} }
	w := l.Sent(0, 0, "p")
	const n = 300_000 // far more than fit: Append must not wait for ever
	for i := range n {
		w.Append(sentRowN(i * (1 + i%7919))) // hard to compress
	}
	select {
	case <-l.Failed():
	case <-time.After(20 * time.Second):
		t.Fatal("the log did not fail")
	}
	if err := l.Err(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "make room or choose another spool") {
		t.Errorf("error is %v", err)
	}
	w.Close()
	if err := l.CloseStep(t.Context(), 0, 0); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("CloseStep: %v", err)
	}
	unsent, err := l.Close(t.Context())
	if !errors.Is(err, syscall.ENOSPC) || len(unsent) > 0 {
		t.Errorf("Close: %v, %v", unsent, err)
	}
	rows := int64(0)
	for _, p := range l.Parts(0, 0) {
		r, err := rawlog.OpenPart(rawlog.Memory(store.get(p.Name)))
		if err != nil {
			t.Fatal(err)
		}
		rows += r.Rows()
		if p.Last {
			t.Error("a part says that it is the last, and rows were given up")
		}
	}
	s := l.Stats()
	if rows == 0 || s.Rows != rows || s.Rows+s.Discarded != n {
		t.Errorf("%d rows are readable; stats %+v", rows, s)
	}
	if files := filesIn(l.opt.SpoolDir); len(files) > 0 {
		t.Errorf("the spool still has %v", files)
	}
}

// stalled is a disk that stands still until it is released.
type stalled struct {
	w       io.Writer
	release chan struct{}
}

func (d stalled) Write(p []byte) (int, error) {
	<-d.release
	return d.w.Write(p)
}

func TestAppendWaitsWhenTheBacklogIsFull(t *testing.T) {
	store := newMemoryStore()
	l := newLog(t, store, func(o *Options) { o.BacklogRows = 3 * largeChunk; o.PartAge = time.Hour })
	release := make(chan struct{})
	let := sync.OnceFunc(func() { close(release) })
	t.Cleanup(let) // before that of the log, which would wait
	l.spool.wrap = func(_ string, w io.Writer) io.Writer { return stalled{w, release} }
	w := l.Sent(0, 0, "p")
	const n = 200_000
	rng := rand.New(rand.NewPCG(1, 1))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range n {
			row := sentRowN(i)
			row.SentNs = rng.Int64() // so that a row group is more than the file's buffer
			w.Append(row)
		}
	}()
	select {
	case <-done:
		t.Fatal("rows beyond the backlog were taken")
	case <-time.After(200 * time.Millisecond):
	}
	let()
	<-done
	if s := l.Stats(); s.Blocked == 0 || s.BlockedNs < int64(50*time.Millisecond) {
		t.Errorf("stats are %+v", s)
	}
	w.Close()
	if err := l.CloseStep(t.Context(), 0, 0); err != nil {
		t.Fatal(err)
	}
	if rows := rowsOf(t, store, l.Parts(0, 0)); rows != n {
		t.Errorf("%d rows, want %d", rows, n)
	}
}

func TestMisuseFailsTheLog(t *testing.T) {
	for name, misuse := range map[string]func(*Log){
		"opened twice":           func(l *Log) { l.Sent(0, 0, "p"); l.Sent(0, 0, "p") },
		"no name for an actor":   func(l *Log) { l.Sent(0, 0, "a/../b").Append(sentRowN(0)) },
		"after the log was clos": func(l *Log) { l.Close(t.Context()); l.Sent(0, 0, "p").Close() },
	} {
		l := newLog(t, newMemoryStore(), nil)
		misuse(l)
		if err := l.Err(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	if _, err := New(Options{SpoolDir: t.TempDir()}); err == nil {
		t.Error("a log without a store was opened")
	}
	if _, err := New(Options{Store: newMemoryStore()}); err == nil {
		t.Error("a log without a spool was opened")
	}
}
