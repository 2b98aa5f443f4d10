package logwriter

import (
	"context"
	"errors"
	"io"
	"sync"

	"queuebench/objectstore"
)

// memoryStore is a store whose answers a test decides.
type memoryStore struct {
	objectstore.Store // nil: what is not used here is not called

	mu      sync.Mutex
	objects map[string][]byte
	puts    int
	// fault is asked before each put; nil for no faults.
	fault func(ctx context.Context, key string, put int) error
}

func newMemoryStore() *memoryStore { return &memoryStore{objects: make(map[string][]byte)} }

func (s *memoryStore) Put(ctx context.Context, key string, body []byte, _ objectstore.PutOptions) error {
	s.mu.Lock()
	s.puts++
	put, fault := s.puts, s.fault
	s.mu.Unlock()
	if fault != nil {
		if err := fault(ctx, key, put); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = append([]byte(nil), body...)
	return nil
}

func (s *memoryStore) PutFile(ctx context.Context, key string, r io.ReaderAt, size int64, opt objectstore.PutOptions) error {
	body := make([]byte, size)
	if _, err := r.ReadAt(body, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return s.Put(ctx, key, body, opt)
}

func (s *memoryStore) get(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key]
}
