package deltalake

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/synctest"
	"time"
)

// What can happen next in an exploration, and what must be true whatever did.

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
