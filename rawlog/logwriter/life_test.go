package logwriter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"queuebench/rawlog"
)

// eventually waits for what another goroutine is about to do.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not happen that %s", what)
		}
	}
}

func filesIn(dir string) []string {
	var files []string
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return nil
	})
	return files
}

// rowsOf counts rows of the stored parts, and checks that their sequence has no
// gap.
func rowsOf(t *testing.T, store *memoryStore, parts []rawlog.PartInfo) int64 {
	t.Helper()
	rows := int64(0)
	for i, p := range parts {
		if p.Index != i {
			t.Errorf("part %d has index %d", i, p.Index)
		}
		r, err := rawlog.OpenPart(rawlog.Memory(store.get(p.Name)), "seq")
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		if r.Rows() != p.Rows {
			t.Errorf("%s has %d rows, %d are claimed", p.Name, r.Rows(), p.Rows)
		}
		for r.Next() {
			for _, seq := range r.Columns()[0].Ints {
				if seq != rows {
					t.Fatalf("%s: seq %d in the place of %d", p.Name, seq, rows)
				}
				rows++
			}
		}
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
	}
	return rows
}

func TestAPartIsClosedByAgeWhenRowsTrickle(t *testing.T) {
	store := newMemoryStore()
	l := newLog(t, store, func(o *Options) { o.PartAge = 20 * time.Millisecond })
	w := l.Sent(0, 0, "p")
	w.Append(sentRowN(0)) // one row, of a chunk of thousands
	eventually(t, "the part was stored", func() bool { return l.Stats().Stored == 1 })
	time.Sleep(100 * time.Millisecond)
	if n := l.Stats().Parts; n != 1 {
		t.Errorf("%d parts, and there was nothing new", n)
	}
	w.Append(sentRowN(1))
	eventually(t, "the second part was stored", func() bool { return l.Stats().Stored == 2 })
	w.Close()
	if err := l.CloseStep(t.Context(), 0, 0); err != nil {
		t.Fatal(err)
	}
	parts := l.Parts(0, 0)
	if len(parts) != 3 || parts[0].Rows != 1 || parts[1].Rows != 1 || parts[2].Rows != 0 || !parts[2].Last || parts[0].Last {
		t.Errorf("parts are %+v", parts)
	}
	if rows := rowsOf(t, store, parts); rows != 2 {
		t.Errorf("%d rows", rows)
	}
}

// A watermark in a part means that the rows before it are there: whatever the
// size of the parts and the moments at which they are closed.
func TestWatermarkNeverRunsAhead(t *testing.T) {
	store := newMemoryStore()
	l := newLog(t, store, func(o *Options) { o.PartAge = 3 * time.Millisecond; o.PartRows = 5000 })
	w := l.Sent(0, 0, "p")
	const n = 200_000
	for i := range n {
		w.Append(sentRowN(i))
		w.SetWatermark(sentRowN(i).IntendedNs + 1) // this row lies before it
		if i%1000 == 0 {
			time.Sleep(100 * time.Microsecond)
		}
	}
	if err := l.CloseStep(t.Context(), 0, 0); err != nil {
		t.Fatal(err)
	}
	parts := l.Parts(0, 0)
	rows, moved := int64(0), 0
	for _, p := range parts {
		rows += p.Rows
		promised := (p.WatermarkNs - sentRowN(0).IntendedNs + 99_999) / 100_000 // rows
		if p.WatermarkNs > 0 && promised > rows {
			t.Fatalf("part %d promises %d rows, %d are there", p.Index, promised, rows)
		}
		if p.WatermarkNs > 0 && !p.Last {
			moved++
		}
	}
	if len(parts) < n/5000 || moved == 0 {
		t.Errorf("%d parts, %d with a watermark", len(parts), moved)
	}
	if got := rowsOf(t, store, parts); got != n {
		t.Errorf("%d rows, want %d", got, n)
	}
	if last := parts[len(parts)-1]; last.WatermarkNs != sentRowN(n-1).IntendedNs+1 || !last.Last {
		t.Errorf("the last part is %+v", last)
	}
}

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

func TestManyWritersAtOnce(t *testing.T) {
	store := newMemoryStore()
	l := newLog(t, store, func(o *Options) { o.PartAge = 5 * time.Millisecond })
	var wg sync.WaitGroup
	for p := range 8 {
		w := l.Sent(0, 0, fmt.Sprintf("producer-%d", p))
		wg.Go(func() {
			defer w.Close()
			for i := range 20_000 {
				w.Append(sentRowN(i))
				w.SetWatermark(int64(i))
				if i%5000 == 0 {
					time.Sleep(7 * time.Millisecond)
				}
			}
		})
	}
	wg.Wait()
	if err := l.CloseStep(t.Context(), 0, 0); err != nil {
		t.Fatal(err)
	}
	byActor := make(map[string][]rawlog.PartInfo)
	for _, p := range l.Parts(0, 0) {
		byActor[p.Actor] = append(byActor[p.Actor], p)
	}
	if len(byActor) != 8 {
		t.Errorf("%d actors", len(byActor))
	}
	for actor, parts := range byActor {
		if rows := rowsOf(t, store, parts); rows != 20_000 {
			t.Errorf("%s: %d rows", actor, rows)
		}
	}
}

func TestNoGoroutineOutlivesClose(t *testing.T) {
	before := runtime.NumGoroutine()
	store := newMemoryStore()
	l := newLog(t, store, nil)
	for i := range 5 {
		l.Sent(i, 0, "p").Append(sentRowN(0))
		l.Events(i, 0, "p")
	}
	if unsent, err := l.Close(t.Context()); err != nil || len(unsent) > 0 {
		t.Fatalf("%v, %v", unsent, err)
	}
	eventually(t, "the goroutines ended", func() bool { return runtime.NumGoroutine() <= before })
	if unsent, err := l.Close(t.Context()); err != nil || unsent != nil {
		t.Errorf("a second Close: %v, %v", unsent, err)
	}
	if len(l.Parts(4, 0)) != 2 {
		t.Error("parts cannot be listed after Close")
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

func TestManifestIsStoredWhole(t *testing.T) {
	store := newMemoryStore()
	l := newLog(t, store, nil)
	m := &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: "run-1"}
	if err := l.WriteManifest(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	var got rawlog.Manifest
	body := store.get("run.json")
	if err := json.Unmarshal(body, &got); err != nil || got.Run != "run-1" || !strings.Contains(string(body), "\n  \"run\"") {
		t.Errorf("run.json is %s, %v", body, err)
	}

	down := true
	store.fault = func(context.Context, string, int) error {
		if down {
			return errors.New("down")
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	m.Complete = true
	err := l.WriteManifest(ctx, m)
	inSpool := filepath.Join(l.opt.SpoolDir, "run.json")
	if err == nil || !strings.Contains(err.Error(), inSpool) {
		t.Errorf("error is %v", err)
	}
	if body, err := os.ReadFile(inSpool); err != nil || !strings.Contains(string(body), `"complete": true`) {
		t.Errorf("the spooled run.json: %s, %v", body, err)
	}
	down = false
	if err := l.WriteManifest(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(inSpool); err == nil {
		t.Error("the old copy is still in the spool")
	}
}
