package broker

import (
	"context"
	"sync"

	"queuebench/queue"
)

// Inbox keeps deliveries, in order, until their consumer takes them. It does not
// bound them: what a server sends ahead of acknowledgements does.
type Inbox[T any] struct {
	woken  chan struct{}
	closed chan struct{}

	mu    sync.Mutex
	items []T
	err   error

	taken []T // handed out, and what is left of them
	rest  []T
}

// NewInbox makes an empty one.
func NewInbox[T any]() *Inbox[T] {
	return &Inbox[T]{woken: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Put adds deliveries. It never waits.
func (b *Inbox[T]) Put(items ...T) {
	b.mu.Lock()
	b.items = append(b.items, items...)
	b.mu.Unlock()
	b.wake()
}

// Fail makes Take return err once all that is here was taken. The first error
// stands.
func (b *Inbox[T]) Fail(err error) {
	b.mu.Lock()
	if b.err == nil {
		b.err = err
	}
	b.mu.Unlock()
	b.wake()
}

func (b *Inbox[T]) wake() {
	select {
	case b.woken <- struct{}{}:
	default:
	}
}

// Take waits for deliveries and returns at least one and at most limit. Their
// memory is valid until the next call. It is called by one goroutine.
func (b *Inbox[T]) Take(ctx context.Context, limit int) ([]T, error) {
	for {
		select {
		case <-b.closed:
			return nil, queue.ErrClosed
		default:
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(b.rest) == 0 {
			b.mu.Lock()
			clear(b.taken) // for the garbage collector
			b.taken, b.items = b.items, b.taken[:0]
			err := b.err
			b.mu.Unlock()
			if b.rest = b.taken; len(b.rest) == 0 && err != nil {
				return nil, err
			}
		}
		if n := min(limit, len(b.rest)); n > 0 {
			out := b.rest[:n]
			b.rest = b.rest[n:]
			return out, nil
		}
		select {
		case <-b.woken:
		case <-b.closed:
		case <-ctx.Done():
		}
	}
}

// Close ends a waiting Take. It is called once.
func (b *Inbox[T]) Close() { close(b.closed) }

// Closed is closed by Close.
func (b *Inbox[T]) Closed() <-chan struct{} { return b.closed }

// Left are the deliveries that nobody took, in order. It is called when neither
// Put nor Take is called any more.
func (b *Inbox[T]) Left() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append(b.rest, b.items...)
}

// Empty says that Take would wait. It is called by who calls Take.
func (b *Inbox[T]) Empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.rest) == 0 && len(b.items) == 0
}
