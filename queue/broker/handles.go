package broker

import (
	"errors"
	"io"
	"sync"
)

// Handles are the producers and consumers of a queue that are open, which end
// with it. The zero value is one of an open queue. Its methods may be called from
// several goroutines.
type Handles struct {
	mu     sync.Mutex
	closed bool
	open   map[io.Closer]bool
}

// Closed tells whether Close was called.
func (h *Handles) Closed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// Keep keeps a producer or consumer for Close; false, and not kept, when the
// queue is closed.
func (h *Handles) Keep(c io.Closer) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	if h.open == nil {
		h.open = map[io.Closer]bool{}
	}
	h.open[c] = true
	return true
}

// Forget lets go of one that has ended.
func (h *Handles) Forget(c io.Closer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, c)
}

// Close closes those that are open, each of which may call Forget. first is
// false when Close was called before.
func (h *Handles) Close() (first bool, err error) {
	h.mu.Lock()
	first = !h.closed
	h.closed = true
	open := make([]io.Closer, 0, len(h.open))
	for c := range h.open {
		open = append(open, c)
	}
	h.mu.Unlock()
	for _, c := range open {
		err = errors.Join(err, c.Close())
	}
	return first, err
}
