package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// deleteWorkers is how many Deletes RemoveAll has under way at once, and
	// batchWorkers how many requests for deleteAtOnce of them.
	deleteWorkers = 16
	batchWorkers  = 4
	// deleteAtOnce is the most that S3 deletes by one request.
	deleteAtOnce = 1000
)

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
	removeBatch   = 30 * time.Second
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

// deleteKeys deletes, many at once where the store can, and stops at the first error.
func deleteKeys(ctx context.Context, s Store, keys []string) (done int, err error) {
	var mu sync.Mutex
	many, ok := s.(interface {
		deleteMany(context.Context, []string) ([]string, error)
	})
	if ok && len(keys) > deleteWorkers {
		var rest []string
		err = each(ctx, batchWorkers, slices.Collect(slices.Chunk(keys, deleteAtOnce)), func(ctx context.Context, batch []string) error {
			var left []string
			err := persist(ctx, removeBatch, func(ctx context.Context) (err error) {
				left, err = many.deleteMany(ctx, batch)
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			rest = append(rest, left...)
			done += len(batch) - len(left)
			return err
		})
		if err != nil {
			return done, err
		}
		keys = rest
	}
	err = each(ctx, deleteWorkers, keys, func(ctx context.Context, key string) error {
		err := persist(ctx, removeRequest, func(ctx context.Context) error { return s.Delete(ctx, key) })
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			done++
		}
		return err
	})
	return done, err
}

// each hands items to a few workers, which stop at the first error.
func each[T any](ctx context.Context, workers int, items []T, do func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan T)
	var wg sync.WaitGroup
	for range min(workers, len(items)) {
		wg.Go(func() {
			for item := range work {
				if err := do(ctx, item); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
feed:
	for _, item := range items {
		select {
		case work <- item:
		case <-ctx.Done():
			break feed
		}
	}
	close(work)
	wg.Wait()
	return context.Cause(ctx)
}
