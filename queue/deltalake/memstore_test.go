package deltalake

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"queuebench/objectstore"
)

// memStore is a store in memory: what a client costs without a store. It keeps
// what it is given, and hands out what it keeps.
type memStore struct {
	*memObjects
	prefix string
}

type memObjects struct {
	mu      sync.Mutex
	objects map[string][]byte
	counts  objectstore.Counts
}

func newMemStore() *memStore {
	return &memStore{memObjects: &memObjects{objects: map[string][]byte{}}}
}

func (s *memStore) Sub(prefix string) objectstore.Store {
	return &memStore{s.memObjects, s.prefix + prefix}
}

func (s *memStore) Get(_ context.Context, key string) ([]byte, objectstore.Info, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, ok := s.objects[s.prefix+key]
	if !ok {
		s.counts.Miss++
		return nil, objectstore.Info{}, objectstore.ErrNotFound
	}
	s.counts.Get++
	return body, objectstore.Info{Key: key, Size: int64(len(body))}, nil
}

func (s *memStore) Put(_ context.Context, key string, body []byte, opt objectstore.PutOptions) error {
	body = slices.Clone(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if opt.IfAbsent {
		s.counts.PutIfAbsent++
		if _, ok := s.objects[s.prefix+key]; ok {
			return objectstore.ErrExists
		}
	} else {
		s.counts.Put++
	}
	s.objects[s.prefix+key] = body
	return nil
}

func (s *memStore) Delete(_ context.Context, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, s.prefix+key)
	return nil
}

// keys are those below a prefix, in order.
func (s *memStore) keys(prefix string) (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.objects {
		if key, ok := strings.CutPrefix(key, s.prefix); ok && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func (s *memStore) List(_ context.Context, opt objectstore.ListOptions, yield func(objectstore.Info) error) error {
	s.mu.Lock()
	s.counts.List++
	s.mu.Unlock()
	group := ""
	for i, key := range s.keys(opt.Prefix) {
		if opt.Limit > 0 && i >= opt.Limit {
			return nil
		}
		if key <= opt.After {
			continue
		}
		if opt.Delimiter != "" {
			if below, rest, ok := strings.Cut(key[len(opt.Prefix):], opt.Delimiter); ok && rest != "" {
				key = opt.Prefix + below + opt.Delimiter
				if key == group {
					continue
				}
				group = key
			}
		}
		if err := yield(objectstore.Info{Key: key}); err != nil {
			return err
		}
	}
	return nil
}

func (s *memStore) Requests() objectstore.Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

func (s *memStore) Address() string    { return "memory" }
func (s *memStore) Durability() string { return "none" }

func (s *memStore) Head(ctx context.Context, key string) (objectstore.Info, error) {
	_, info, err := s.Get(ctx, key)
	return info, err
}

func (s *memStore) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, objectstore.Info, error) {
	body, info, err := s.Get(ctx, key)
	if err != nil {
		return nil, info, err
	}
	from := min(offset, info.Size)
	return body[from:min(from+length, info.Size)], info, nil
}

func (s *memStore) PutFile(ctx context.Context, key string, r io.ReaderAt, size int64, opt objectstore.PutOptions) error {
	body := make([]byte, size)
	if _, err := r.ReadAt(body, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return s.Put(ctx, key, body, opt)
}
