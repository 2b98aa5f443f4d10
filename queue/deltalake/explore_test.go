package deltalake

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"queuebench/clock"
	"queuebench/internal/reliability"
	"queuebench/objectstore"
)

// The commit protocol, explored exhaustively: the real queue, its producers and
// consumers, on a store in memory whose requests are answered one at a time, in
// every order, with faults, with crashes, with zombies. Time is the bubble's of
// testing/synctest, so an execution is a function of the choices made in it; the
// explorer runs it again and again until every choice was made in every state.
//
// A writer can die before and after each of its requests, and what it had under
// way may arrive at any time or never. It can also fall asleep there and wake up
// after it was replaced: a zombie.
//
// What commutes is not tried in every order. An object is written once and
// never changed, so a GET of one that is there is answered at once, and a
// reader's as soon as it is; a data file, which nobody knows before its commit,
// is stored at once.

// world is one execution.
type world struct {
	t     *testing.T
	scope scope
	clock *clock.Clock

	mu       sync.Mutex
	store    *memStore
	pending  []*request
	ghosts   []*request        // answered with an error, and still under way to the store
	owner    map[string]string // by key: who committed what
	lists    map[string]int    // by actor: how many LISTs were answered
	doing    map[string]string // by actor: what it last wanted to commit
	acked    map[string]bool
	finished map[string]bool // by actor
	failed   map[string]error
	inLog    []string // messages, by version
	versions int64
	got      []string // what the reader was handed
	gotTo    int64    // the last version of it

	dead         map[string]bool // by actor
	lives        map[string]int  // of each writer and the reader
	faults, dies int
	cancel       []func()
	ctx          context.Context
	running      sync.WaitGroup
}

// scope bounds an exploration.
type scope struct {
	writers  string // a letter each
	commits  int    // of each
	reader   bool
	faults   int  // answers that are lost, PUTs that fail or arrive late
	restarts int  // of writers, and of the reader
	created  bool // the table is there when all begin
}

// execute makes the choices of a path, and then the first of each. It returns
// the number of choices that there were at each point, up to a state that was
// seen before or to the end.
func execute(t *testing.T, s scope, clk *clock.Clock, path []int, seen map[string]bool) (open []int) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &world{
			t: t, scope: s, clock: clk, ctx: ctx, store: newMemStore(), owner: map[string]string{}, lists: map[string]int{}, doing: map[string]string{}, dead: map[string]bool{}, gotTo: -1,
			acked: map[string]bool{}, finished: map[string]bool{}, failed: map[string]error{}, lives: map[string]int{},
		}
		if s.created {
			if err := w.store.Put(ctx, "table/"+versionKey(0), []byte(protocolLine+"\n"+metaDataLine+"\n"), objectstore.PutOptions{}); err != nil {
				t.Fatal(err)
			}
			w.owner["table/"+versionKey(0)], w.versions = "created", 1
		}
		for _, name := range s.writers {
			w.writer(string(name))
		}
		if s.reader {
			w.reader()
		}
		var steps []string
		for {
			w.settle()
			w.check()
			cs := w.choices()
			if len(cs) == 0 {
				w.end()
				break
			}
			if len(open) >= len(path) {
				state := w.state()
				if seen[state] {
					break
				}
				seen[state] = true
			}
			i := 0
			if len(open) < len(path) {
				i = path[len(open)]
			}
			open = append(open, len(cs))
			steps = append(steps, cs[i].name)
			w.mu.Lock()
			cs[i].do()
			w.mu.Unlock()
		}
		if t.Failed() {
			t.Logf("after:\n%s", strings.Join(steps, "\n"))
		}
		cancel()
		for _, end := range w.cancel {
			end()
		}
		w.running.Wait()
	})
	return open
}

// explore makes every choice in every state of a scope.
func explore(t *testing.T, s scope) (states, executions int) {
	seen, clk := map[string]bool{}, clock.New()
	depth, began := 0, time.Now()
	for path := []int{}; path != nil; executions++ {
		open := execute(t, s, clk, path, seen)
		if t.Failed() {
			return len(seen), executions
		}
		depth = max(depth, len(open))
		for len(path) < len(open) {
			path = append(path, 0)
		}
		// The next path differs as late as it can.
		for len(path) > 0 && path[len(path)-1]+1 >= open[len(path)-1] {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			break
		}
		path[len(path)-1]++
	}
	t.Logf("%+v: %d states, %d executions of up to %d steps, in %v", s, len(seen), executions, depth, time.Since(began))
	return len(seen), executions
}

// TestCommitProtocolExplored takes narrower scopes under the race detector,
// which makes an execution ten times as long, and wider ones, of some minutes,
// where wideScopes is set (scripts/test-interop.sh sets it).
func TestCommitProtocolExplored(t *testing.T) {
	scopes := map[string]scope{
		"a writer, a fault, a restart": {writers: "a", commits: 1, reader: true, faults: 1, restarts: 1},
		"two writers make the table":   {writers: "ab", commits: 1},
		"two writers, a fault":         {writers: "ab", commits: 1, reader: true, faults: 1, created: true},
		"two writers, a restart":       {writers: "ab", commits: 1, restarts: 1, created: true},
	}
	switch {
	case os.Getenv(wideScopes) != "":
		scopes = map[string]scope{
			"a writer, a fault, two restarts":     {writers: "a", commits: 1, reader: true, faults: 1, restarts: 2},
			"two writers, two commits, a fault":   {writers: "ab", commits: 2, reader: true, faults: 1, created: true},
			"two writers, two faults":             {writers: "ab", commits: 1, reader: true, faults: 2, created: true},
			"two writers, two commits, a restart": {writers: "ab", commits: 2, reader: true, restarts: 1, created: true},
			"two writers, a fault, a restart":     {writers: "ab", commits: 1, reader: true, faults: 1, restarts: 1, created: true},
		}
	case !raceDetector:
		scopes["a writer, two commits"] = scope{writers: "a", commits: 2, reader: true, faults: 1, restarts: 1}
		scopes["two writers, a restart"] = scope{writers: "ab", commits: 1, reader: true, restarts: 1, created: true}
		scopes["two writers make the table"] = scope{writers: "ab", commits: 1, reader: true, faults: 1}
	}
	row := reliability.Try(t, reliability.Row{
		ID: "delta/commit-protocol", What: "every interleaving of one and two writers and a reader, with lost answers and a crash at each step, zombies included",
		Often: fmt.Sprintf("%d scopes", len(scopes)), Effort: float64(len(scopes)), Holds: "no loss, no duplicate, no gap",
	})
	states, executions := 0, 0
	for name, s := range scopes {
		t.Run(name, func(t *testing.T) {
			a, b := explore(t, s)
			states, executions = states+a, executions+b
		})
	}
	row.Happened = fmt.Sprintf("%d states, %d executions", states, executions)
	row.Effort = float64(executions)
}

const wideScopes = "DELTALAKE_TEST_WIDE"
