package objectstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"queuebench/objectstore"
)

// each runs f(0) to f(n-1) on some goroutines.
func each(t *testing.T, workers, n int, f func(int) error) {
	t.Helper()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				if err := f(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func testConditionalRace(t *testing.T, s objectstore.Store) {
	for round := range 20 {
		key := fmt.Sprintf("race/%02d", round)
		won := make([]bool, 8)
		each(t, 8, 8, func(i int) error {
			for {
				body := bytes.Repeat([]byte{byte('a' + i)}, 1000+i)
				err := s.Put(t.Context(), key, body, objectstore.PutOptions{IfAbsent: true})
				won[i] = err == nil
				if errors.Is(err, objectstore.ErrConflict) {
					continue // the same key may be tried again
				}
				if errors.Is(err, objectstore.ErrExists) {
					return nil
				}
				return err
			}
		})
		winner := slices.Index(won, true)
		if winner < 0 || slices.Contains(won[winner+1:], true) {
			t.Fatalf("round %d: winners %v", round, won)
		}
		wantBody(t, s, key, strings.Repeat(string(rune('a'+winner)), 1000+winner))
	}
}

// testPutDeleteRace: what is stored survives the deletion of its neighbours,
// which may take the folder away while it is being used.
func testPutDeleteRace(t *testing.T, s objectstore.Store) {
	const workers = 6
	each(t, workers, workers, func(i int) error {
		for n := range 30 {
			key := fmt.Sprintf("r/%d/%d", n%2, i)
			if err := s.Put(t.Context(), key, []byte(key), objectstore.PutOptions{IfAbsent: n%3 == 0}); err != nil {
				return err
			}
			if body, _, err := s.Get(t.Context(), key); err != nil || string(body) != key {
				return fmt.Errorf("%q: %q, %w", key, body, err)
			}
			if err := s.Delete(t.Context(), key); err != nil {
				return err
			}
		}
		return nil
	})
	wantList(t, s, objectstore.ListOptions{})
}
