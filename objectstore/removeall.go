package objectstore

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// deleteWorkers is how many Deletes RemoveAll has under way at once.
const deleteWorkers = 16

// RemoveAll deletes each object below a prefix and returns how many it deleted.
// The prefix ends in a slash, so that "run/1000/" never touches "run/10000/".
// In a folder, what interrupted puts left below it and empty folders go too.
// It lists first and deletes then, so it does not depend on the order of a
// listing; what is stored below the prefix in the meantime may stay. A store that
// lists what does not lie below the prefix is believed in nothing: not one object
// is deleted then.
func RemoveAll(ctx context.Context, s Store, prefix string) (n int, err error) {
	fail := func(why string) error {
		return &Error{Op: "delete", Object: s.Address() + " below " + prefix, Cause: errors.New(why)}
	}
	if strings.Trim(prefix, "/") == "" {
		return 0, fail("a whole store is never removed: give a prefix")
	}
	if !strings.HasSuffix(prefix, "/") {
		return 0, fail("the prefix must end in a slash, or it would touch others that begin alike")
	}
	if err := checkKey(strings.TrimSuffix(prefix, "/")); err != nil {
		return 0, fail(err.Error())
	}
	var keys []string
	err = s.List(ctx, ListOptions{Prefix: prefix}, func(info Info) error {
		if strings.HasPrefix(info.Key, prefix) {
			keys = append(keys, info.Key)
			return nil
		}
		return fail("the store listed " + info.Key + ", which is not below it")
	})
	if err != nil {
		return 0, err
	}
	n, err = deleteKeys(ctx, s, keys)
	if sweeper, ok := s.(interface {
		sweep(context.Context, string) error
	}); ok && err == nil {
		err = sweeper.sweep(ctx, prefix)
	}
	return n, err
}

// deleteKeys deletes with a few workers and stops at the first error.
func deleteKeys(ctx context.Context, s Store, keys []string) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan string)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		done int
	)
	for range min(deleteWorkers, len(keys)) {
		wg.Go(func() {
			for key := range work {
				if err := s.Delete(ctx, key); err != nil {
					cancel(err)
					return
				}
				mu.Lock()
				done++
				mu.Unlock()
			}
		})
	}
feed:
	for _, key := range keys {
		select {
		case work <- key:
		case <-ctx.Done():
			break feed
		}
	}
	close(work)
	wg.Wait()
	return done, context.Cause(ctx)
}
