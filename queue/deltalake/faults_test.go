package deltalake

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"queuebench/objectstore"
)

// every makes a hook that lets a fault happen to each nth request that it
// wants.
func every(n int, want func(key string) bool, f fault) func(string) fault {
	seen := 0
	return func(key string) fault {
		if want(key) {
			if seen++; seen%n == 0 {
				return f
			}
		}
		return fault{}
	}
}

func slow(ctx context.Context) error { return sleep(ctx, 15*time.Millisecond) }

// Each fault of a network or a store, one by one: nothing is lost, nothing
// comes twice, and what the client was not told it finds out.
func TestExactlyOnceUnderFaults(t *testing.T) {
	isAny := func(string) bool { return true }
	for name, c := range map[string]struct {
		put, get func(string) fault
		event    string // that the producer must have told of
	}{
		"commit stored, answer lost":       {put: every(3, isCommit, fault{after: errLost}), event: "recovered"},
		"commit stored, answer late":       {put: every(3, isCommit, fault{after: errTimeout}), event: "recovered"},
		"commit stored, answer 503":        {put: every(3, isCommit, fault{after: objectstore.ErrThrottled}), event: "recovered"},
		"commit stored, answer 412":        {put: every(3, isCommit, fault{after: objectstore.ErrExists}), event: "recovered"},
		"commit stored, answer 409":        {put: every(3, isCommit, fault{after: objectstore.ErrConflict}), event: "recovered"},
		"commit lost on the way":           {put: every(3, isCommit, fault{before: fail(errLost)}), event: "retry"},
		"commit refused, 409":              {put: every(3, isCommit, fault{before: fail(objectstore.ErrConflict)}), event: "retry"},
		"commit refused, 503":              {put: every(3, isCommit, fault{before: fail(objectstore.ErrThrottled)}), event: "throttled"},
		"commit hangs":                     {put: every(9, isCommit, fault{before: hang}), event: "retry"},
		"commit slow":                      {put: every(2, isCommit, fault{before: slow})},
		"data stored, answer lost":         {put: every(3, isData, fault{after: errLost}), event: "retry"},
		"data refused, 503":                {put: every(3, isData, fault{before: fail(objectstore.ErrThrottled)}), event: "throttled"},
		"data hangs":                       {put: every(9, isData, fault{before: hang}), event: "retry"},
		"data slow":                        {put: every(2, isData, fault{before: slow})},
		"commit read cut short":            {get: every(3, isCommit, fault{cut: true})},
		"data read cut short":              {get: every(3, isData, fault{cut: true})},
		"read lost":                        {get: every(4, isAny, fault{after: errLost})},
		"read refused, 503":                {get: every(4, isAny, fault{before: fail(objectstore.ErrThrottled)})},
		"read hangs":                       {get: every(40, isAny, fault{before: hang})},
		"data read slow":                   {get: every(2, isData, fault{before: slow})},
		"answer lost and read-back failed": {put: every(3, isCommit, fault{after: errLost}), get: every(2, isCommit, fault{before: fail(errLost)})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := withFaults(folder(t))
			if c.put != nil {
				f.put = func(key string, _ bool) fault { return c.put(key) }
			}
			f.get = c.get
			l := checkExactlyOnce(t, Config{Store: s, CommitInterval: 2 * time.Millisecond, RequestTimeout: 100 * time.Millisecond}, 200)
			if c.event != "" && l.event(c.event) == 0 {
				t.Errorf("the producer told of no %q: %v", c.event, l.events)
			}
		})
	}
}

// A commit's PUT that was given up lands after the read-back found nothing.
// The second PUT of the same version must then find its own bytes.
func TestLateLandingCommit(t *testing.T) {
	late := newLateStore(folder(t))
	l := checkExactlyOnce(t, Config{Store: late, CommitInterval: 2 * time.Millisecond}, 300)
	late.wg.Wait()
	if l.event("recovered") == 0 {
		t.Errorf("no commit was found to be its own: %v", l.events)
	}
}

// Everything at once, in an order that differs with the seed.
func TestExactlyOnceUnderRandomFaults(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			s, f := withFaults(folder(t))
			some := []fault{{after: errLost}, {after: errTimeout}, {before: fail(objectstore.ErrThrottled)}, {before: fail(objectstore.ErrConflict)}, {before: slow}, {before: hang}}
			hook := func(key string) fault {
				// A probe is not tried again: it fails the start.
				if !strings.Contains(key, ".probe") && r.IntN(5) == 0 {
					return some[r.IntN(len(some))]
				}
				return fault{}
			}
			f.put = func(key string, _ bool) fault { return hook(key) }
			f.get = func(key string) fault {
				h := hook(key)
				h.cut = !strings.Contains(key, ".probe") && r.IntN(10) == 0
				return h
			}
			checkExactlyOnce(t, Config{Store: s, Partitions: 1, CommitInterval: 3 * time.Millisecond, RequestTimeout: 40 * time.Millisecond, Pipeline: 3}, 150)
		})
	}
}
