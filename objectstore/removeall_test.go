package objectstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
)

// moody fails each request once before it does it, and some after.
type moody struct {
	Store
	mu   sync.Mutex
	seen map[string]int
	err  error
}

func (m *moody) fails(request string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen[request]++; m.seen[request] <= 1 {
		return m.err
	}
	return nil
}

func (m *moody) List(ctx context.Context, opt ListOptions, yield func(Info) error) error {
	if err := m.fails("list"); err != nil {
		return err
	}
	for i := range 40 {
		if err := yield(Info{Key: fmt.Sprintf("run/1/%d", i)}); err != nil {
			return err
		}
	}
	return m.fails("list, after it was told")
}

func (m *moody) Delete(_ context.Context, key string) error { return m.fails(key) }
func (m *moody) Address() string                            { return "s3://moody" }

// What is in trouble for a moment is asked again, and each object is deleted once;
// what is refused is not asked again.
func TestRemoveAllAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &moody{seen: map[string]int{}, err: fmt.Errorf("503: %w", ErrThrottled)}
		if n, err := RemoveAll(t.Context(), m, "run/1/"); n != 40 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		for request, n := range m.seen {
			if n != 2 && request != "list" {
				t.Errorf("%s was asked %d times", request, n)
			}
		}
	})
	for _, final := range []error{ErrDenied, ErrNoBucket} {
		m := &moody{seen: map[string]int{}, err: final}
		if n, err := RemoveAll(t.Context(), m, "run/1/"); n != 0 || !errors.Is(err, final) || m.seen["list"] != 1 {
			t.Errorf("%v: %d, %v, asked %d times", final, n, err, m.seen["list"])
		}
	}
	synctest.Test(t, func(t *testing.T) {
		m := &moody{seen: map[string]int{}, err: ErrThrottled}
		for i := range 40 {
			m.seen[fmt.Sprintf("run/1/%d", i)] = -1000 // for ever
		}
		if _, err := RemoveAll(t.Context(), m, "run/1/"); !errors.Is(err, ErrThrottled) {
			t.Errorf("a store that stays in trouble: %v", err)
		}
	})
}
