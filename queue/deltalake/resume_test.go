package deltalake

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"queuebench/objectstore"
	"queuebench/queue"
)

// The process that TestProducerKilledAndRestarted kills: it hands over the same
// messages in the same order from the first on, as its caller must.
const (
	killedFolder   = "DELTALAKE_TEST_KILLED_FOLDER"
	killedMessages = 3000
)

func killedConfig(store objectstore.Store) Config {
	return Config{Store: store, Name: "table", AppID: "orders", Partitions: 2, CommitInterval: 5 * time.Millisecond, PollInterval: time.Millisecond}
}

func TestKilledProducerProcess(t *testing.T) {
	dir := os.Getenv(killedFolder)
	if dir == "" {
		return // only where another test starts it
	}
	store, err := objectstore.FolderOptions{NoSync: true}.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	l := newLoad(t, open(t, killedConfig(store)), 1)
	fmt.Println("opened")
	if err := l.send(t.Context(), 0, killedMessages, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if failed, err := l.failed(); failed > 0 || len(l.acked) != killedMessages {
		t.Errorf("of %d messages %d have a fate, %d failed: %v", killedMessages, len(l.acked), failed, err)
	}
	fmt.Println("resumed:", l.event("resumed"))
	fmt.Println("done")
}

// A producer is killed 20 times in the middle of whatever it does, and
// restarted. What was sent is received, once and in order.
func TestProducerKilledAndRestarted(t *testing.T) {
	dir := t.TempDir()
	store, err := objectstore.FolderOptions{NoSync: true}.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	q := open(t, killedConfig(store))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s := newSink(t, q, "g", queue.Start{})
	s.unordered = true // two partitions
	received := make(chan error, 1)
	go func() { received <- s.receive(ctx, killedMessages, 50*time.Millisecond) }()

	// life starts the producer and kills it a moment after it has opened.
	life := func(after time.Duration) (lines []string) {
		cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestKilledProducerProcess$")
		cmd.Env = append(os.Environ(), killedFolder+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for scan := bufio.NewScanner(out); scan.Scan(); {
			lines = append(lines, scan.Text())
			if scan.Text() == "opened" && after >= 0 {
				time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Wait()
		return lines
	}
	r := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		lines := life(time.Duration(r.IntN(40)) * time.Millisecond)
		if strings.Join(lines, " ") != "opened" {
			t.Fatalf("a producer that was to be killed said %q", lines)
		}
	}
	if text := strings.Join(life(-1), " "); !strings.Contains(text, "opened resumed: 1 done") {
		t.Fatalf("the last producer said %q", text)
	}
	if err := <-received; err != nil {
		t.Error(err)
	}
	s.checkOnce(t, 1, killedMessages)
}

// A killed producer's PUT that lands after its heir has counted the messages
// would bring them twice. The heir takes its version first.
func TestCommitOfTheDeadLandsBehindItsHeir(t *testing.T) {
	for name, during := range map[string]bool{"before the heir opens": false, "while the heir opens": true} {
		t.Run(name, func(t *testing.T) {
			store, f := withFaults(newMemStore())
			cfg := Config{Store: store, Name: "table", AppID: "a", CommitInterval: 2 * time.Millisecond, CloseGrace: time.Millisecond}
			dead := newLoad(t, open(t, cfg), 1)
			if err := dead.send(deadline(t), 0, 10, 0); err != nil {
				t.Fatal(err)
			}
			// Its next commit is on the way when it dies.
			held := make(chan func() error, 1)
			f.mu.Lock()
			f.put = func(key string, ifAbsent bool) fault {
				if !ifAbsent || !isCommit(key) {
					return fault{}
				}
				f.put = nil
				return fault{hold: held}
			}
			f.mu.Unlock()
			ms := []queue.Message{{Payload: numbered(1, 10), Partition: queue.AnyPartition}}
			if _, err := dead.p.Send(t.Context(), ms); err != nil {
				t.Fatal(err)
			}
			land := <-held
			dead.p.Close()
			if during {
				// Between the heir's reading of the log and its own first commit.
				f.mu.Lock()
				f.put = func(key string, ifAbsent bool) fault {
					if !ifAbsent || !isCommit(key) {
						return fault{}
					}
					f.put = nil
					return fault{before: func(context.Context) error { return land() }}
				}
				f.mu.Unlock()
			} else if err := land(); err != nil {
				t.Fatal(err)
			}
			heir := newLoad(t, open(t, cfg), 1)
			if err := heir.send(deadline(t), 0, 20, 0); err != nil {
				t.Fatal(err)
			}
			if failed, err := heir.failed(); failed > 0 || len(heir.acked) != 20 {
				t.Errorf("%d of 20 messages have a fate, %d failed: %v", len(heir.acked), failed, err)
			}
			s := newSink(t, heir.q, "g", queue.Start{})
			if err := s.receive(deadline(t), 20, 20*time.Millisecond); err != nil {
				t.Error(err)
			}
			s.checkOnce(t, 1, 20)
		})
	}
}

func numbered(id, i uint32) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, id), i)
}

// Producers of one queue are counted apart, keys keep their partitions, and a
// producer that is closed and opened again within a process goes on, too.
func TestSeveralProducersAreResumed(t *testing.T) {
	cfg := Config{Store: newMemStore(), Name: "table", AppID: "a", Partitions: 3, CommitInterval: 2 * time.Millisecond}
	total := 0
	for life := range 3 {
		q := open(t, cfg)
		for again := range 2 {
			n := 300 * (2*life + again + 1)
			var loads []*load
			for id := range 3 {
				loads = append(loads, newLoad(t, q, id))
			}
			for id, l := range loads {
				if err := l.send(deadline(t), 0, n+id, 0); err != nil {
					t.Fatal(err)
				}
				if failed, err := l.failed(); failed > 0 || len(l.acked) != n+id {
					t.Errorf("producer %d: %d of %d messages have a fate, %d failed: %v", id, len(l.acked), n+id, failed, err)
				}
				l.p.Close()
			}
			total = n
		}
		q.Close()
	}
	s := newSink(t, open(t, cfg), "g", queue.Start{})
	s.unordered = true
	if err := s.receive(deadline(t), 3*total+3, 20*time.Millisecond); err != nil {
		t.Error(err)
	}
	for id := range 3 {
		s.checkOnce(t, id, total+id)
	}
}

func TestResumeIsRefused(t *testing.T) {
	cfg := Config{Store: newMemStore(), Name: "table", AppID: "a", Partitions: 2, CommitInterval: 2 * time.Millisecond}
	l := newLoad(t, open(t, cfg), 1)
	if err := l.send(deadline(t), 0, 300, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := l.q.Producer(t.Context(), queue.ProducerConfig{ID: 1}); err == nil || !strings.Contains(err.Error(), "ID 1 is open") {
		t.Errorf("two producers with one ID: %v", err)
	}
	l.q.Close()
	cfg.Partitions = 3
	if _, err := open(t, cfg).Producer(t.Context(), queue.ProducerConfig{ID: 1}); err == nil || !strings.Contains(err.Error(), "number of partitions") {
		t.Errorf("another number of partitions: %v", err)
	}
	cfg.AppID = "a:b"
	if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), "a:b") {
		t.Errorf("an AppID with a colon: %v", err)
	}
}
