package deltalake

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"queuebench/internal/versitygw"
	"queuebench/objectstore"
	"queuebench/queue"
)

// firstSlow delays the first GET of each object that is wanted, and lets it
// fail then, if it is to. Its delay ends with the request.
type firstSlow struct {
	want  func(key string) bool
	delay time.Duration
	fails bool
	seen  map[string]bool
}

func (s *firstSlow) hook(key string) fault {
	if s.want == nil || !s.want(key) || s.seen[key] {
		return fault{}
	}
	s.seen[key] = true
	return fault{before: func(ctx context.Context) error {
		if err := sleep(ctx, s.delay); err != nil {
			return err
		}
		if s.fails {
			return errLost
		}
		return nil
	}}
}

// hedgeRun sends messages in commits of their own, on a clock that only runs
// while all wait, and returns how long the slowest took.
func hedgeRun(t *testing.T, cfg Config, slow *firstSlow) (worst time.Duration, f *faults, events []queue.Event) {
	slow.seen = map[string]bool{}
	s, f := withFaults(newMemStore())
	cfg.runtimeTimers = true
	cfg.Store, cfg.Name, cfg.CommitInterval, cfg.PollInterval = s, "q", 10*time.Millisecond, 2*time.Millisecond
	q := open(t, cfg)
	defer q.Close()
	var mu sync.Mutex
	c, err := q.Consumer(t.Context(), queue.ConsumerConfig{Event: func(e queue.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := q.Producer(t.Context(), queue.ProducerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.get = slow.hook
	f.mu.Unlock()
	for i := range 20 {
		text := fmt.Sprint("message ", i)
		begun := time.Now()
		if _, err := p.Send(t.Context(), []queue.Message{{Payload: []byte(text), Partition: queue.AnyPartition}}); err != nil {
			t.Fatal(err)
		}
		ds, err := c.Receive(t.Context())
		if err != nil || len(ds) != 1 || string(ds[0].Payload) != text {
			t.Fatalf("message %d: %v, %v", i, ds, err)
		}
		worst = max(worst, time.Since(begun))
	}
	c.Close()
	p.Close()
	mu.Lock()
	defer mu.Unlock()
	return worst, f, events
}

func TestHedgedGet(t *testing.T) {
	isVersion := func(key string) bool { return isCommit(key) && !isVersion0(key) }
	for name, c := range map[string]struct {
		after  time.Duration
		slow   firstSlow
		under  time.Duration // the slowest message
		over   time.Duration
		hedges bool
		says   string
		gets   int // of the data files
	}{
		"off":                      {0, firstSlow{want: isData, delay: time.Second}, 2 * time.Second, time.Second, false, "", 20},
		"data slow":                {30 * time.Millisecond, firstSlow{want: isData, delay: time.Second}, 100 * time.Millisecond, 30 * time.Millisecond, true, "the second one answered first", 40},
		"data a little slow":       {30 * time.Millisecond, firstSlow{want: isData, delay: 25 * time.Millisecond}, 100 * time.Millisecond, 25 * time.Millisecond, false, "", 20},
		"versions slow":            {30 * time.Millisecond, firstSlow{want: isVersion, delay: time.Second}, 100 * time.Millisecond, 0, true, "the second one answered first", 20},
		"all fast":                 {30 * time.Millisecond, firstSlow{}, 50 * time.Millisecond, 0, false, "", 20},
		"the slow one fails later": {30 * time.Millisecond, firstSlow{want: isData, delay: time.Second, fails: true}, 100 * time.Millisecond, 30 * time.Millisecond, true, "the second one answered first", 40},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				worst, f, events := hedgeRun(t, Config{HedgeAfter: c.after}, &c.slow)
				if worst < c.over || worst > c.under {
					t.Errorf("the slowest message took %v, expected %v to %v", worst, c.over, c.under)
				}
				told := 0
				for _, e := range events {
					if e.Kind != "hedged" {
						t.Errorf("event %+v", e)
						continue
					}
					told++
					if !strings.Contains(e.Text, c.says) {
						t.Errorf("an event says %q", e.Text)
					}
				}
				if c.hedges != (told > 0) || c.hedges && told > 21 {
					t.Errorf("%d events tell of hedged requests", told)
				}
				if n := f.count("GET", ".parquet"); n != c.gets {
					t.Errorf("%d GETs of data files, expected %d", n, c.gets)
				}
			})
		})
	}
}

// Where the second one is slow as well, the first one counts; where one fails,
// the other one does; where both do, the GET is tried again as ever.
func TestHedgedGetThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		first, second time.Duration // after the request of each
		failFirst     bool
		failSecond    bool
		says          string
		took          time.Duration
		fails         bool
	}{
		"the first answers":      {50, 500, false, false, "the first one answered first", 50, false},
		"the second answers":     {500, 10, false, false, "the second one answered first", 40, false},
		"the first fails first":  {40, 50, true, false, "the second one", 80, false},
		"the second fails first": {90, 10, false, true, "the first one", 90, false},
		"both fail":              {40, 50, true, true, "", 80, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mem := newMemStore()
				put(t, mem, "t/x", "text")
				s, f := withFaults(mem)
				asked := 0
				f.get = func(string) fault {
					delay, fails := c.first, c.failFirst
					if asked++; asked == 2 {
						delay, fails = c.second, c.failSecond
					}
					return fault{before: func(ctx context.Context) error {
						if err := sleep(ctx, delay*time.Millisecond); err != nil || !fails {
							return err
						}
						return errLost
					}}
				}
				q := open(t, Config{runtimeTimers: true, Store: s, Name: "t", HedgeAfter: 30 * time.Millisecond})
				var events []queue.Event
				g := &group{q: q}
				tail := newTail(q.tables[0], g, 0, 0)
				tail.owner = &Consumer{cfg: queue.ConsumerConfig{Event: func(e queue.Event) { events = append(events, e) }}}
				begun := time.Now()
				body, _, hedged, err := tail.get(t.Context(), "x", nil)
				took := time.Since(begun)
				tail.asking.Wait()
				if (err != nil) != c.fails || !c.fails && string(body) != "text" || !hedged || took != c.took*time.Millisecond || asked != 2 {
					t.Errorf("%q, hedged %v, after %v and %d requests: %v", body, hedged, took, asked, err)
				}
				if !c.fails && (len(events) != 1 || !strings.Contains(events[0].Text, c.says)) {
					t.Errorf("told %v", events)
				}
			})
		})
	}
}

// lateWriter is a store whose first GET of a data file goes on to write into the
// memory that it was given, long after it was cancelled, and whose second one
// has another file, so that there is a third.
type lateWriter struct {
	objectstore.Store
	mu   *sync.Mutex
	seen map[string]int
	wg   *sync.WaitGroup
}

func (s lateWriter) Sub(prefix string) objectstore.Store {
	return lateWriter{s.Store.Sub(prefix), s.mu, s.seen, s.wg}
}

func (s lateWriter) GetInto(ctx context.Context, key string, buf []byte) ([]byte, objectstore.Info, error) {
	s.mu.Lock()
	s.seen[key]++
	nth := s.seen[key]
	s.mu.Unlock()
	if nth == 1 && strings.HasSuffix(key, ".parquet") {
		s.wg.Add(1)
		defer s.wg.Done()
		<-ctx.Done()
		for range 20 {
			copy(buf[:cap(buf)], bytes.Repeat([]byte{0xee}, cap(buf)))
			time.Sleep(time.Millisecond)
		}
		return nil, objectstore.Info{}, ctx.Err()
	}
	body, info, err := s.Store.Get(ctx, key)
	return append(buf[:0], body...), info, err
}

func (s lateWriter) Get(ctx context.Context, key string) ([]byte, objectstore.Info, error) {
	body, info, err := s.Store.Get(ctx, key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[key]++
	if s.seen[key] == 2 && strings.HasSuffix(key, ".parquet") {
		body, info.Size = body[1:], info.Size-1
	}
	return body, info, err
}

// The memory of a request that lost is left to it.
func TestHedgedGetLeavesMemoryAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := lateWriter{newMemStore(), &sync.Mutex{}, map[string]int{}, &sync.WaitGroup{}}
		q := open(t, Config{runtimeTimers: true, Store: s, Name: "q", CommitInterval: 5 * time.Millisecond, PollInterval: time.Millisecond, HedgeAfter: 3 * time.Millisecond, RetryFor: time.Hour})
		c, err := q.Consumer(t.Context(), queue.ConsumerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := q.Producer(t.Context(), queue.ProducerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			text := strings.Repeat(fmt.Sprint(i), 100)
			if _, err := p.Send(t.Context(), []queue.Message{{Payload: []byte(text), Partition: queue.AnyPartition}}); err != nil {
				t.Fatal(err)
			}
			ds, err := c.Receive(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for range 30 {
				time.Sleep(time.Millisecond)
				if string(ds[0].Payload) != text {
					t.Fatalf("message %d became %.20q", i, ds[0].Payload)
				}
			}
		}
		q.Close()
		s.wg.Wait()
	})
}

// slowFirstAnswer lets the first answer with each data file come only when its
// request is given up.
type slowFirstAnswer struct {
	next http.RoundTripper
	mu   sync.Mutex
	seen map[string]bool
}

func (s *slowFirstAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	first := r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".parquet") && !s.seen[r.URL.Path]
	if first {
		s.seen[r.URL.Path] = true
	}
	s.mu.Unlock()
	resp, err := s.next.RoundTrip(r)
	if first && err == nil {
		resp.Body = &lateBody{resp.Body, r.Context()}
	}
	return resp, err
}

type lateBody struct {
	io.ReadCloser
	ctx context.Context
}

func (b *lateBody) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

// Through S3 the second request is one of its kind in the counts, and so in the
// cost, and the one that was given up is no failure of the store.
func TestHedgedGetOverS3(t *testing.T) {
	server := versitygw.Start(t)
	slow := &slowFirstAnswer{seen: map[string]bool{}}
	store, err := objectstore.Open(t.Context(), server.Address("queues"), objectstore.Options{
		Credentials:   objectstore.StaticCredentials(server.AccessKey, server.SecretKey, ""),
		HTTPTransport: func(next http.RoundTripper) http.RoundTripper { slow.next = next; return slow },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer objectstore.Close(store)
	q := open(t, Config{Store: store, HedgeAfter: 5 * time.Millisecond})
	c, err := q.Consumer(t.Context(), queue.ConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := q.Producer(t.Context(), queue.ProducerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if _, err := p.Send(t.Context(), []queue.Message{{Payload: fmt.Append(nil, i), Partition: queue.AnyPartition}}); err != nil {
			t.Fatal(err)
		}
		ds, err := c.Receive(deadline(t))
		if err != nil || string(ds[0].Payload) != fmt.Sprint(i) {
			t.Fatal(ds, err)
		}
	}
	c.Close()
	p.Close()
	if n := store.Requests(); n.Failed != 0 || n.Get < 2*10 {
		t.Errorf("counted %+v", n)
	}
}
