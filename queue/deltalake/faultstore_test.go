package deltalake

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"queuebench/objectstore"
)

// faultStore does to requests what networks and stores do. It is shared by the
// store's Subs.
type faultStore struct {
	objectstore.Store
	*faults
	prefix string
}

type faults struct {
	mu sync.Mutex
	// put and get are asked before each request, in the order of requests, and
	// may be nil. They return what happens to it.
	put func(key string, ifAbsent bool) fault
	get func(key string) fault
	log []string // requests, "PUT key" and so on
}

type fault struct {
	before func(context.Context) error // instead of the request, or nil from it to go on
	after  error                       // instead of its answer
	cut    bool                        // half of the body, no error
	hold   chan<- func() error         // a PUT is answered late, and done by whoever takes it from here
}

func withFaults(s objectstore.Store) (*faultStore, *faults) {
	f := &faults{}
	return &faultStore{Store: s, faults: f}, f
}

func (s *faultStore) Sub(prefix string) objectstore.Store {
	return &faultStore{Store: s.Store.Sub(prefix), faults: s.faults, prefix: s.prefix + prefix}
}

func (f *faults) ask(what, key string, hook func() fault) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, what+" "+key)
	if hook == nil {
		return fault{}
	}
	return hook()
}

// count is how many requests began with a prefix and contained a part.
func (f *faults) count(what, part string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.log {
		if strings.HasPrefix(l, what) && strings.Contains(l, part) {
			n++
		}
	}
	return n
}

func (s *faultStore) Put(ctx context.Context, key string, body []byte, opt objectstore.PutOptions) error {
	what := "PUT"
	if opt.IfAbsent {
		what = "PUT-IF-ABSENT"
	}
	f := s.ask(what, s.prefix+key, func() fault {
		if s.put == nil {
			return fault{}
		}
		return s.put(s.prefix+key, opt.IfAbsent)
	})
	if f.hold != nil {
		body := slices.Clone(body)
		f.hold <- func() error { return s.Store.Put(context.Background(), key, body, opt) }
		return hang(ctx)
	}
	if f.before != nil {
		if err := f.before(ctx); err != nil {
			return err
		}
	}
	err := s.Store.Put(ctx, key, body, opt)
	if err == nil && f.after != nil {
		return f.after
	}
	return err
}

func (s *faultStore) Get(ctx context.Context, key string) ([]byte, objectstore.Info, error) {
	f := s.ask("GET", s.prefix+key, func() fault {
		if s.get == nil {
			return fault{}
		}
		return s.get(s.prefix + key)
	})
	if f.before != nil {
		if err := f.before(ctx); err != nil {
			return nil, objectstore.Info{}, err
		}
	}
	body, info, err := s.Store.Get(ctx, key)
	if err == nil && f.after != nil {
		return nil, objectstore.Info{}, f.after
	}
	if f.cut && err == nil {
		body = body[:len(body)/2]
	}
	return body, info, err
}

func (s *faultStore) List(ctx context.Context, opt objectstore.ListOptions, yield func(objectstore.Info) error) error {
	s.ask("LIST", s.prefix+opt.Prefix, nil)
	return s.Store.List(ctx, opt, yield)
}

func (s *faultStore) Head(ctx context.Context, key string) (objectstore.Info, error) {
	s.ask("HEAD", s.prefix+key, nil)
	return s.Store.Head(ctx, key)
}

// fail answers without asking the store.
func fail(err error) func(context.Context) error { return func(context.Context) error { return err } }

// hang answers when the caller no longer waits.
func hang(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

var (
	errLost    = errors.New("the connection was lost: " + io.ErrUnexpectedEOF.Error())
	errTimeout = context.DeadlineExceeded
)

func isCommit(key string) bool { return strings.Contains(key, "/_delta_log/") }
func isData(key string) bool   { return strings.HasSuffix(key, ".parquet") && !isCommit(key) }

// lateStore answers every fourth commit with a time-out, and stores it a
// moment later: after the client has looked for it, or after it was tried
// again.
type lateStore struct {
	*faultStore
	wg   *sync.WaitGroup
	seen *int
}

func newLateStore(s objectstore.Store) *lateStore {
	f, _ := withFaults(s)
	return &lateStore{f, &sync.WaitGroup{}, new(int)}
}

func (s *lateStore) Sub(prefix string) objectstore.Store {
	return &lateStore{s.faultStore.Sub(prefix).(*faultStore), s.wg, s.seen}
}

func (s *lateStore) Put(ctx context.Context, key string, body []byte, opt objectstore.PutOptions) error {
	if !opt.IfAbsent || !isCommit("/"+key) || isVersion0(key) {
		return s.faultStore.Put(ctx, key, body, opt)
	}
	s.mu.Lock()
	*s.seen++
	late, pause := *s.seen%4 == 0, time.Duration(*s.seen%3)*2*time.Millisecond
	s.mu.Unlock()
	if !late {
		return s.faultStore.Put(ctx, key, body, opt)
	}
	body = slices.Clone(body)
	s.wg.Go(func() {
		time.Sleep(pause)
		_ = s.faultStore.Put(context.Background(), key, body, opt) // the answer reaches nobody
	})
	return errTimeout
}
