package deltalake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/queue"
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

// request is what an actor waits for.
type request struct {
	actor, what, key string
	says             string       // the version that a PUT is to become
	do               func() error // what the store does
	reply            chan error
}

func (r *request) String() string { return r.actor + " " + r.what + " " + r.key }

// gate is the store as an actor sees it.
type gate struct {
	objectstore.Store
	w      *world
	actor  string
	prefix string
}

func (g *gate) Sub(prefix string) objectstore.Store {
	return &gate{g.Store.Sub(prefix), g.w, g.actor, g.prefix + prefix}
}

// wait returns when the explorer has chosen the request.
func (g *gate) wait(ctx context.Context, what, key string, do func() error) error {
	r := &request{actor: g.actor, what: what, key: key, do: do, reply: make(chan error, 1)}
	g.w.mu.Lock()
	r.says = g.w.doing[g.actor]
	g.w.pending = append(g.w.pending, r)
	g.w.mu.Unlock()
	select {
	case err := <-r.reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) Put(ctx context.Context, key string, body []byte, opt objectstore.PutOptions) error {
	if !opt.IfAbsent {
		return g.Store.Put(ctx, key, body, opt)
	}
	body = slices.Clone(body)
	what := g.actor + " " + identity(g.w.t, body)
	g.w.mu.Lock()
	g.w.doing[g.actor] = what
	g.w.mu.Unlock()
	return g.wait(ctx, "PUT", g.prefix+key, func() error {
		err := g.Store.Put(context.Background(), key, body, opt)
		if err == nil {
			g.w.owner[g.prefix+key] = what
			g.w.stored(g.actor, g.prefix+key, body)
		}
		return err
	})
}

// identity is what a version says, without its time and random names.
func identity(t *testing.T, body []byte) string {
	c, err := parseCommit(0, body)
	if err != nil {
		t.Error(err)
		return ""
	}
	id := c.info.Operation
	for _, x := range c.txns {
		id += fmt.Sprint(" ", x.AppID, "=", x.Version)
	}
	return id
}

func (g *gate) Get(ctx context.Context, key string) (body []byte, info objectstore.Info, err error) {
	_, isVersion := parseName(versionName, key)
	if body, info, err = g.Store.Get(ctx, key); err == nil || !isVersion {
		return body, info, err
	}
	err = g.wait(ctx, "GET", g.prefix+key, func() (err error) {
		body, info, err = g.Store.Get(context.Background(), key)
		return err
	})
	return body, info, err
}

func (g *gate) List(ctx context.Context, opt objectstore.ListOptions, yield func(objectstore.Info) error) error {
	var found []objectstore.Info
	list := func() error {
		return g.Store.List(context.Background(), opt, func(i objectstore.Info) error { found = append(found, i); return nil })
	}
	var err error
	if g.w.onlyAsksForExistence(g.actor) {
		err = list()
	} else {
		err = g.wait(ctx, "LIST", g.prefix+opt.Prefix, list)
	}
	for _, i := range found {
		if err == nil {
			err = yield(i)
		}
	}
	return err
}

// onlyAsksForExistence says of a LIST that its answer is that there are versions,
// now and for ever: the first of a writer, where there are some.
func (w *world) onlyAsksForExistence(actor string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if actor[0] == 'r' || w.versions == 0 || w.lists[actor] > 0 {
		return false
	}
	w.lists[actor]++
	return true
}

// stored checks a version as it is stored: no gap before it, its data there, no
// message that is there already. The lock is held.
func (w *world) stored(actor, key string, body []byte) {
	name := strings.TrimPrefix(key, "table/")
	v, ok := parseName(versionName, name)
	if !ok || v != w.versions {
		w.t.Errorf("%s stored %s as version %d", actor, key, w.versions)
	}
	w.versions++
	c, err := parseCommit(v, body)
	if err != nil {
		w.t.Error(err)
		return
	}
	for _, a := range c.adds {
		data, _, err := w.store.Get(context.Background(), "table/"+a.Path)
		if err != nil {
			w.t.Errorf("version %d: data file %s: %v", v, a.Path, err)
			return
		}
		ds, _, err := (&decoder{column: "data"}).decode(data, v, nil)
		if err != nil {
			w.t.Error(err)
		}
		for _, d := range ds {
			if slices.Contains(w.inLog, string(d.Payload)) {
				w.t.Errorf("version %d brings message %s again", v, d.Payload)
			}
			w.inLog = append(w.inLog, string(d.Payload))
		}
	}
}

func (w *world) config(actor, appID string) Config {
	const never = 1e6 * time.Hour
	return Config{
		Store: &gate{Store: w.store, w: w, actor: actor}, Name: "table", AppID: appID, Pipeline: 1, FixedPhase: true,
		CommitInterval: never, BatchMessages: 1, PollInterval: time.Second, CloseGrace: time.Nanosecond, CheckpointCommits: -1,
		RequestTimeout: never, RetryFor: never, GapAfter: never, Clock: w.clock,
	}
}

func (w *world) start(actor, appID string, run func(ctx context.Context, q *Queue) error) {
	q, err := New(w.config(actor, appID))
	if err != nil {
		w.t.Fatal(err)
	}
	q.isFit = true // the probe is no part of the protocol
	ctx, cancel := context.WithCancel(w.ctx)
	w.cancel = append(w.cancel, func() { cancel(); q.Close() })
	w.running.Go(func() {
		err := run(ctx, q)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.finished[actor] = true
		if err != nil && ctx.Err() == nil {
			w.failed[actor] = err
		}
	})
}

// writer starts the next life of a writer, which sends its messages from the
// first on.
func (w *world) writer(name string) {
	w.lives[name]++
	actor := fmt.Sprint(name, w.lives[name])
	w.start(actor, name, func(ctx context.Context, q *Queue) error {
		sent := []string{}
		var failed error
		p, err := q.Producer(ctx, queue.ProducerConfig{Acked: func(acks []queue.Ack) {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, a := range acks {
				if failed = a.Err; failed == nil {
					w.acked[sent[a.First]] = true
				}
			}
		}})
		if err != nil {
			return err
		}
		for i := range w.scope.commits {
			sent = append(sent, fmt.Sprint(name, ".", i))
			if _, err := p.Send(ctx, []queue.Message{{Payload: []byte(sent[i]), Partition: queue.AnyPartition}}); err != nil {
				return err
			}
			if err := cmp.Or(p.Flush(ctx), failed); err != nil {
				return err
			}
		}
		return nil
	})
}

// reader starts the next life of the reader, behind what the last was handed.
func (w *world) reader() {
	w.lives["r"]++
	actor := fmt.Sprint("r", w.lives["r"])
	w.mu.Lock()
	from := queue.Start{Kind: queue.StartOffset, Offset: w.gotTo + 1}
	w.mu.Unlock()
	w.start(actor, "", func(ctx context.Context, q *Queue) error {
		c, err := q.Consumer(ctx, queue.ConsumerConfig{Start: from})
		for err == nil {
			var ds []queue.Delivery
			ds, err = c.Receive(ctx)
			w.mu.Lock()
			if w.lives["r"] == int(actor[1]-'0') { // else nobody listens to it
				for _, d := range ds {
					w.got, w.gotTo = append(w.got, string(d.Payload)), d.Offset
				}
			}
			w.mu.Unlock()
		}
		return err
	})
}

// choice is what can happen next.
type choice struct {
	name string
	do   func()
}

var errOnTheWay = errors.New("the answer was lost")

// settle lets everything happen that needs no choice.
func (w *world) settle() {
	for again := true; again; {
		time.Sleep(10 * time.Second) // longer than any pause or interval
		synctest.Wait()
		again = false
		w.mu.Lock()
		for _, r := range slices.Clone(w.pending) {
			if _, there := w.owner[r.key]; there && r.actor[0] == 'r' && r.what == "GET" {
				w.answer(r, r.do())
				again = true
			}
		}
		w.mu.Unlock()
	}
}

// answer ends a request. The lock is held.
func (w *world) answer(r *request, err error) {
	w.pending = slices.DeleteFunc(w.pending, func(o *request) bool { return o == r })
	if r.what == "LIST" {
		w.lists[r.actor]++
	}
	r.reply <- err
}

// choices are the answers to the pending requests and the restarts.
func (w *world) choices() (all []choice) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortFunc(w.pending, func(a, b *request) int { return strings.Compare(a.String(), b.String()) })
	add := func(name string, do func()) { all = append(all, choice{name, do}) }
	for _, r := range w.pending {
		_, there := w.owner[r.key]
		if r.actor[0] == 'r' && r.what == "GET" && !there {
			continue // a miss of the reader changes nothing
		}
		answer := func(do, arrives bool, as error) func() {
			return func() {
				var err error
				if do {
					err = r.do()
				}
				if arrives {
					w.ghosts = append(w.ghosts, r)
				}
				if as != nil {
					err = as
					w.faults++
				}
				w.answer(r, err)
			}
		}
		add(r.String(), answer(true, false, nil))
		if w.faults < w.scope.faults && r.actor[0] != 'r' && r.what != "LIST" {
			add(r.String()+": fails", answer(false, false, errOnTheWay))
			if r.what == "PUT" && !there {
				add(r.String()+": answer lost", answer(true, false, errOnTheWay))
				add(r.String()+": arrives late", answer(false, true, errOnTheWay))
			}
		}
	}
	for i, r := range w.ghosts {
		add(r.String()+": arrives", func() {
			w.ghosts = slices.Delete(w.ghosts, i, i+1)
			_ = r.do() // the answer reaches nobody
		})
	}
	if w.dies < w.scope.restarts {
		for _, name := range slices.Sorted(maps.Keys(w.lives)) {
			if w.finished[fmt.Sprint(name, w.lives[name])] || name == "r" && len(w.scope.writers) > 1 {
				continue
			}
			restart := func() {
				w.dies++
				w.mu.Unlock()
				defer w.mu.Lock()
				if name == "r" {
					w.reader()
				} else {
					w.writer(name)
				}
			}
			add("restart of "+name+", which is dead", func() {
				w.die(fmt.Sprint(name, w.lives[name]))
				restart()
			})
			if name != "r" {
				add("restart of "+name+", which sleeps", restart)
			}
		}
	}
	return all
}

// die ends an actor in the middle of what it does. A PUT that it waits for may
// yet arrive. The lock is held.
func (w *world) die(actor string) {
	w.dead[actor] = true
	for _, r := range w.pending {
		if r.actor == actor && r.what == "PUT" {
			w.ghosts = append(w.ghosts, r)
		}
	}
	w.pending = slices.DeleteFunc(w.pending, func(r *request) bool { return r.actor == actor })
}

// state is what the rest of an execution depends on. What an actor knows of the
// log is the log itself, up to the version that it asks for: so that, and what
// it is about to commit, is all that there is to know of it.
func (w *world) state() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for v := range w.versions {
		fmt.Fprintln(&b, w.owner["table/"+versionKey(v)])
	}
	for _, r := range w.pending {
		fmt.Fprintln(&b, r, r.says, w.lists[r.actor])
	}
	for _, r := range w.ghosts {
		fmt.Fprintln(&b, "ghost", r, r.says)
	}
	fmt.Fprintln(&b, w.faults, w.dies, w.lives, w.dead, w.finished, len(w.failed), w.acked, w.got)
	return b.String()
}

// check holds an execution against what is promised, in each of its states.
func (w *world) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for m := range w.acked {
		if !slices.Contains(w.inLog, m) {
			w.t.Errorf("message %s was acknowledged and is not in the log %v", m, w.inLog)
		}
	}
	if len(w.got) > len(w.inLog) || !slices.Equal(w.got, w.inLog[:len(w.got)]) {
		w.t.Errorf("the reader was handed %v of the log %v", w.got, w.inLog)
	}
	for actor, err := range w.failed {
		// A life may be replaced even by one that began before it, and slept
		// until now before it took over. One of them goes on.
		if actor[0] == 'r' || !errors.Is(err, ErrFenced) {
			w.t.Errorf("%s, of lives %v, ended with: %v", actor, w.lives, err)
		}
	}
	// However much is asleep or on the way: who is awake gets to the end.
	for actor := range w.finished {
		if actor[0] == 'r' || w.failed[actor] != nil {
			continue
		}
		for i := range w.scope.commits {
			if m := fmt.Sprint(actor[:1], ".", i); !w.acked[m] || !slices.Contains(w.inLog, m) {
				w.t.Errorf("%s has ended and message %s is not in the log %v", actor, m, w.inLog)
			}
		}
	}
}

// end checks that nobody hangs, where nothing can happen any more.
func (w *world) end() {
	for name, lives := range w.lives {
		done := name == "r"
		for life := range lives {
			actor := fmt.Sprint(name, life+1)
			done = done || w.finished[actor] && w.failed[actor] == nil && !w.dead[actor]
		}
		if !done {
			w.t.Errorf("%s did not get to the end: %v, %v", name, w.failed, w.pending)
		}
	}
	if w.scope.reader && len(w.got) != len(w.inLog) {
		w.t.Errorf("the reader was handed %v of %v, and nothing follows", w.got, w.inLog)
	}
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
func explore(t *testing.T, s scope) {
	seen, clk := map[string]bool{}, clock.New()
	executions, depth, began := 0, 0, time.Now()
	for path := []int{}; path != nil; executions++ {
		open := execute(t, s, clk, path, seen)
		if t.Failed() {
			return
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
	for name, s := range scopes {
		t.Run(name, func(t *testing.T) { explore(t, s) })
	}
}

const wideScopes = "DELTALAKE_TEST_WIDE"
