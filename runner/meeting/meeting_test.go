package meeting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
)

func folder(t testing.TB) objectstore.Store {
	s, err := objectstore.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func planOf(n int) Plan {
	p := Plan{Run: "r", Settings: map[string]string{"rate": "10", "queue": "delta"}}
	for i := range n {
		p.Processes = append(p.Processes, fmt.Sprintf("produce-%d", i))
	}
	return p
}

func of(s objectstore.Store, n, i int) *Meeting {
	return &Meeting{
		Store: s, Plan: planOf(n), Process: fmt.Sprintf("produce-%d", i), Clock: clock.New(),
		Wait: time.Minute, Delay: time.Second, Poll: 2 * time.Millisecond,
	}
}

// Everybody goes by one start, whoever stored it.
func TestAllHaveOneStart(t *testing.T) {
	const n = 12
	s := folder(t)
	starts := make([]*Seen, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			m := of(s, n, i)
			if _, err := m.Agree(t.Context()); err != nil {
				t.Error(err)
				return
			}
			var err error
			if starts[i], err = m.Come(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, start := range starts {
		if start == nil || start.AtNs != starts[0].AtNs || len(start.Missing) > 0 || start.By != starts[0].By {
			t.Errorf("worker %d: %+v, worker 0: %+v", i, start, starts[0])
		}
	}
	r, err := Read(t.Context(), s)
	if err != nil || r.Start.AtNs != starts[0].AtNs || !slices.Equal(r.Came, planOf(n).Processes) {
		t.Errorf("%+v, %v", r, err)
	}
}

// Who does not come is named, and refused afterwards.
func TestMissingAreNamedAndNotWaitedFor(t *testing.T) {
	s := folder(t)
	for i := range 2 {
		m := of(s, 3, 2*i) // 0 and 2
		m.Wait = 20 * time.Millisecond
		if i == 0 {
			m.Wait = time.Minute
			go func() { _, _ = m.Come(t.Context()) }() // it ends with the start, which the test waits for
			continue
		}
		for {
			if missing, err := m.missing(t.Context()); err != nil || slices.Equal(missing, []string{"produce-1", "produce-2"}) {
				break
			}
		}
		start, err := m.Come(t.Context())
		if err != nil || !slices.Equal(start.Missing, []string{"produce-1"}) {
			t.Fatalf("%+v, %v", start, err)
		}
	}
	late := of(s, 3, 1)
	if _, err := late.Come(t.Context()); !errors.Is(err, ErrTooLate) {
		t.Errorf("one that was named missing: %v", err)
	}
	if _, err := late.Agree(t.Context()); err != nil {
		t.Errorf("the plan was not stored before: %v", err)
	}
	for i, want := range []error{ErrTaken, ErrTooLate, ErrTaken} {
		if _, err := of(s, 3, i).Agree(t.Context()); !errors.Is(err, want) {
			t.Errorf("worker %d, after the start: %v", i, err)
		}
	}
	again := of(s, 3, 2)
	if _, err := again.Come(t.Context()); !errors.Is(err, ErrTaken) {
		t.Errorf("one that came before: %v", err)
	}
}

func TestAnotherPlanIsRefusedByName(t *testing.T) {
	s := folder(t)
	if _, err := of(s, 3, 0).Agree(t.Context()); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Meeting){
		"--rate is":       func(m *Meeting) { m.Plan.Settings["rate"] = "20" },
		"--partitions is": func(m *Meeting) { m.Plan.Settings["partitions"] = "2" },
		"--queue is":      func(m *Meeting) { delete(m.Plan.Settings, "queue") },
		"has the workers": func(m *Meeting) { m.Plan.Processes = append(m.Plan.Processes, "consume-0") },
		"of run":          func(m *Meeting) { m.Plan.Run = "other" },
	} {
		m := of(s, 3, 1)
		change(m)
		if _, err := m.Agree(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := of(s, 3, 1).Agree(t.Context()); err != nil {
		t.Error(err)
	}
}

// lossy answers a conditional PUT with an error after it was done.
type lossy struct {
	objectstore.Store
	mu   sync.Mutex
	lost map[string]bool
}

func (l *lossy) Put(ctx context.Context, key string, body []byte, opt objectstore.PutOptions) error {
	err := l.Store.Put(ctx, key, body, opt)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && !l.lost[key] {
		l.lost[key] = true
		return errors.New("connection reset by peer")
	}
	return err
}

// A lost answer makes nobody a stranger to its own arrival.
func TestLostAnswers(t *testing.T) {
	s := &lossy{Store: folder(t), lost: map[string]bool{}}
	m := of(s, 1, 0)
	if _, err := m.Agree(t.Context()); err != nil {
		t.Fatal(err)
	}
	if start, err := m.Come(t.Context()); err != nil || start.By != "produce-0" {
		t.Errorf("%+v, %v", start, err)
	}
	if len(s.lost) != 3 {
		t.Errorf("%d answers were lost", len(s.lost))
	}
}

func TestForeignObjects(t *testing.T) {
	for _, body := range []string{"", "{", "[]", `{"at_ns":"x"}`, strings.Repeat("x", maxObject+1)} {
		s := folder(t)
		if err := s.Put(t.Context(), startKey, []byte(body), objectstore.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		if start, err := of(s, 2, 0).Come(t.Context()); !errors.Is(err, errContent) {
			t.Errorf("%.20q: %+v, %v", body, start, err)
		}
	}
	if r, err := Read(t.Context(), folder(t)); r != nil || err != nil {
		t.Errorf("no meeting: %+v, %v", r, err)
	}
}

// Whoever is first makes it, once, and nobody goes on before it is made.
func TestCreatedOnce(t *testing.T) {
	const n = 8
	s := folder(t)
	var mu sync.Mutex
	made := 0
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			err := of(s, n, i).Created(t.Context(), "queue-0", func(context.Context) error {
				time.Sleep(20 * time.Millisecond)
				mu.Lock()
				defer mu.Unlock()
				made++
				return nil
			})
			mu.Lock()
			defer mu.Unlock()
			if err != nil || made != 1 {
				t.Errorf("worker %d went on with %d made: %v", i, made, err)
			}
		})
	}
	wg.Wait()
	fails := errors.New("no")
	other := folder(t)
	if err := of(other, 2, 0).Created(t.Context(), "queue-0", func(context.Context) error { return fails }); !errors.Is(err, fails) {
		t.Errorf("%v", err)
	}
	m := of(other, 2, 1)
	m.Wait = 10 * time.Millisecond
	if err := m.Created(t.Context(), "queue-0", nil); err == nil || !strings.Contains(err.Error(), "produce-0") {
		t.Errorf("who waits for one that failed: %v", err)
	}
}

func TestStartOnTheOwnAxis(t *testing.T) {
	const s, h = int64(time.Second), int64(time.Hour)
	own, other := clock.Identity{Host: "a"}, clock.Identity{Host: "b"}
	unknown := func(clock.Identity) (int64, error) { return 0, errors.New("no exchange") }
	for name, c := range map[string]struct {
		seen Seen
		to   func(clock.Identity) (int64, error)
		want int64
		note string
	}{
		"own clock":      {Seen{Start: Start{AtNs: 7, Clock: own}}, unknown, 7, ""},
		"measured":       {Seen{Start: Start{AtNs: h, Clock: other}}, func(clock.Identity) (int64, error) { return -5, nil }, h - 5, ""},
		"clocks agree":   {Seen{Start: Start{AtNs: 100 * s, DelayNs: 2 * s, Clock: other}, NotAt: 98*s - 9, At: 98*s + 9}, unknown, 100 * s, ""},
		"an hour ahead":  {Seen{Start: Start{AtNs: h + 100*s, DelayNs: 2 * s, Clock: other}, NotAt: 98 * s, At: 98*s + 10}, unknown, 100*s + 5, "1h0m0s ahead"},
		"an hour behind": {Seen{Start: Start{AtNs: 100 * s, DelayNs: 2 * s, Clock: other}, NotAt: h + 98*s, At: h + 98*s + 10}, unknown, h + 100*s + 5, "-1h0m0s ahead"},
		"never looked":   {Seen{Start: Start{AtNs: 100 * s, Clock: other}, At: h}, unknown, 100 * s, "as it is"},
	} {
		at, note := c.seen.Own(own, c.to)
		if at != c.want || (note == "") != (c.note == "") || !strings.Contains(note, c.note) {
			t.Errorf("%s: %d, %q; expected %d, %q", name, at, note, c.want, c.note)
		}
	}
}
