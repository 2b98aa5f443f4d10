package deltalake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"queuebench/objectstore"
)

// The store of an exploration, as an actor sees it: each request waits until it
// is chosen.

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
