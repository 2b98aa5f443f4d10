package broker

import (
	"errors"
	"sync"
	"testing"
)

type handle struct {
	h   *Handles
	err error
	n   int
}

func (c *handle) Close() error {
	c.n++
	c.h.Forget(c)
	return c.err
}

// TestHandlesEndWithTheirQueue closes each that is open once, also where it
// forgets itself, and keeps none after that.
func TestHandlesEndWithTheirQueue(t *testing.T) {
	var h Handles
	broken := errors.New("broken")
	a, b, gone := &handle{h: &h}, &handle{h: &h, err: broken}, &handle{h: &h}
	var wg sync.WaitGroup
	for _, c := range []*handle{a, b, gone} {
		wg.Go(func() {
			if !h.Keep(c) {
				t.Error("an open queue kept none")
			}
		})
	}
	wg.Wait()
	h.Forget(gone)
	if h.Closed() {
		t.Error("closed before Close")
	}
	if first, err := h.Close(); !first || !errors.Is(err, broken) {
		t.Errorf("first %v, %v", first, err)
	}
	if first, err := h.Close(); first || err != nil {
		t.Errorf("again: first %v, %v", first, err)
	}
	if a.n != 1 || b.n != 1 || gone.n != 0 || !h.Closed() || h.Keep(a) {
		t.Errorf("closed %d, %d, %d times", a.n, b.n, gone.n)
	}
}
