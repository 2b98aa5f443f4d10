package logwriter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
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

// Rows that are reserved are recorded once they are published, and only these;
// they may stand between appended ones, and go on over the end of a chunk.
func TestReservedRowsAreThoseThatWerePublished(t *testing.T) {
	store := newMemoryStore()
	l := newLog(t, store, func(o *Options) { o.PartAge = 3 * time.Millisecond })
	w := l.Sent(0, 0, "p")
	rng := rand.New(rand.NewPCG(4, 4))
	n := 0
	for n < 100_000 {
		switch rng.IntN(3) {
		case 0:
			w.Append(sentRowN(n))
			n++
		case 1:
			room := w.Reserve(1 + rng.IntN(3000))
			if len(room) == 0 {
				t.Fatal("no room was returned")
			}
			used := rng.IntN(len(room) + 1)
			for i := range room {
				room[i] = sentRowN(n + i)
			}
			w.Publish(used)
			n += used
		case 2:
			w.Reserve(1 + rng.IntN(100)) // and nothing comes of it
		}
	}
	if err := l.CloseStep(t.Context(), 0, 0); err != nil {
		t.Fatal(err)
	}
	if rows := rowsOf(t, store, l.Parts(0, 0)); rows != int64(n) {
		t.Errorf("%d rows, want %d", rows, n)
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
	if err := l.Begin(ctx, m); err == nil || strings.Contains(err.Error(), "spool") || len(filesIn(l.opt.SpoolDir)) > 0 {
		t.Errorf("a run that did not begin: %v, left %v", err, filesIn(l.opt.SpoolDir))
	}
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
