package logwriter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/objectstore"
)

// A store that refuses for a reason that stays is not waited for: what it does not
// take lies in the spool, and is named with the reason.
func TestAStoreThatRefusesIsNotWaitedFor(t *testing.T) {
	for _, kind := range []error{objectstore.ErrFull, objectstore.ErrDenied, objectstore.ErrNoBucket} {
		t.Run(kind.Error(), func(t *testing.T) {
			t.Parallel()
			store := newMemoryStore()
			store.fault = func(context.Context, string, int) error { return fmt.Errorf("put: %w", kind) }
			l := newLog(t, store, nil)
			l.refusedFor = 50 * time.Millisecond
			w := l.Sent(0, 0, "p")
			for i := range 10 {
				w.Append(sentRowN(i))
			}
			w.Close()
			// Without end, where it is waited for.
			if err := l.CloseStep(context.Background(), 0, 0); !errors.Is(err, kind) || !strings.Contains(err.Error(), "1 files are not in the store yet") {
				t.Errorf("CloseStep: %v", err)
			}
			unsent, err := l.Close(context.Background())
			if !errors.Is(err, kind) || len(unsent) != 1 {
				t.Errorf("Close: %q, %v", unsent, err)
			}
		})
	}
}

// A store that was refused and then takes what comes is waited for again.
func TestARefusalThatPasses(t *testing.T) {
	store := newMemoryStore()
	var open atomic.Bool
	store.fault = func(context.Context, string, int) error {
		if open.Load() {
			return nil
		}
		return objectstore.ErrDenied
	}
	l := newLog(t, store, nil)
	l.refusedFor = time.Hour
	w := l.Sent(0, 0, "p")
	w.Append(sentRowN(0))
	w.Close()
	eventually(t, "a refusal", func() bool { return l.Stats().UploadRetries > 0 })
	open.Store(true)
	if err := l.CloseStep(t.Context(), 0, 0); err != nil {
		t.Error(err)
	}
	if l.uploads.refused() || !l.uploads.refusedSince.IsZero() {
		t.Error("the refusal is remembered")
	}
}

// A store that only fails is waited for, but for no longer than is asked for; and one
// that takes a part between is not failing.
func TestAStoreThatFailsIsWaitedForSoLong(t *testing.T) {
	broken := errors.New("connection reset")
	var puts atomic.Int64
	for name, c := range map[string]struct {
		failing func() bool
		stored  bool
	}{
		"for good":     {func() bool { return true }, false},
		"now and then": {func() bool { return puts.Add(1)%2 == 1 }, true},
	} {
		t.Run(name, func(t *testing.T) {
			store := newMemoryStore()
			store.fault = func(context.Context, string, int) error {
				if c.failing() {
					return broken
				}
				return nil
			}
			l := newLog(t, store, func(o *Options) { o.FailingFor = time.Second })
			w := l.Sent(0, 0, "p")
			w.Append(sentRowN(0))
			w.Close()
			unsent, err := l.Close(context.Background())
			if c.stored != (err == nil && len(unsent) == 0) || !c.stored && !errors.Is(err, broken) {
				t.Errorf("%q, %v", unsent, err)
			}
		})
	}
}
