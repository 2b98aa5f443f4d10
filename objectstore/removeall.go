package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"time"
)

// deleteWorkers is how many Deletes RemoveAll has under way at once.
const deleteWorkers = 16

// RemoveAll deletes each object below a prefix and returns how many it deleted.
// The prefix ends in a slash, so that "run/1000/" never touches "run/10000/".
// In a folder, what interrupted puts left below it and empty folders go too.
// It lists first and deletes then, so it does not depend on the order of a
// listing; what is stored below the prefix in the meantime may stay. A store that
// lists what does not lie below the prefix is believed in nothing: not one object
// is deleted then. A request that found no answer, or a server in trouble, is made
// again: to delete twice does no harm.
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
	var foreign error
	err = persist(ctx, removeListing, func(ctx context.Context) error {
		keys = keys[:0]
		return s.List(ctx, ListOptions{Prefix: prefix}, func(info Info) error {
			if strings.HasPrefix(info.Key, prefix) {
				keys = append(keys, info.Key)
				return nil
			}
			foreign = fail("the store listed " + info.Key + ", which is not below it")
			return errStop
		})
	})
	if foreign != nil {
		return 0, foreign
	}
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

const (
	removeTries = 7
	removePause = 50 * time.Millisecond // doubles with each try
	// A connection may be half open; a listing takes a request for each thousand.
	removeRequest = 10 * time.Second
	removeListing = 10 * time.Minute
)

var errStop = errors.New("stop")

// persist makes a request again that a later try may have an answer to, each for
// at most limit.
func persist(ctx context.Context, limit time.Duration, request func(context.Context) error) error {
	for try := 1; ; try++ {
		one, cancel := context.WithTimeout(ctx, limit)
		err := request(one)
		cancel()
		var local *fs.PathError
		final := errors.Is(err, ErrDenied) || errors.Is(err, ErrNoBucket) || errors.Is(err, ErrNotFound) || errors.Is(err, errStop) || errors.As(err, &local)
		if err == nil || final || try == removeTries || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(removePause << try):
		}
	}
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
				if err := persist(ctx, removeRequest, func(ctx context.Context) error { return s.Delete(ctx, key) }); err != nil {
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
