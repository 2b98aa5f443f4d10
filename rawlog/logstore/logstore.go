// Package logstore finds a raw log in a store: a folder, or a prefix of an S3
// bucket.
//
// It gives rawlog.Source, and nothing of what a log means. It writes nothing.
package logstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"queuebench/objectstore"
	"queuebench/rawlog"
)

// wholeBytes is the largest object that is fetched whole, by one request; of a
// larger one only what is read.
const wholeBytes = 64 << 20

// Open opens the log at an address: that of the run's folder or prefix, as
// bench printed it, or that of its run.json. A place without run.json is
// rawlog.ErrNotARun.
func Open(ctx context.Context, address string, opt objectstore.Options) (rawlog.Source, error) {
	a, err := objectstore.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	a = runOf(a)
	store, err := objectstore.OpenAddress(ctx, a, opt)
	if err != nil {
		return nil, err
	}
	if a.Bucket != "" {
		// A server that accepts and never answers would hang without an end.
		if err := objectstore.CheckBucket(ctx, store); err != nil {
			return nil, err
		}
	}
	return OpenStore(ctx, store)
}

// runOf takes the manifest's name off an address.
func runOf(a objectstore.Address) objectstore.Address {
	if a.IsFolder() {
		if rawlog.IsManifestName(filepath.Base(a.Folder)) {
			a.Folder = filepath.Dir(a.Folder)
		}
		return a
	}
	if dir, name := path.Split(a.Prefix); rawlog.IsManifestName(name) {
		a.Prefix = strings.TrimSuffix(dir, "/")
	}
	return a
}

// OpenStore opens the log of which store is the folder or prefix.
func OpenStore(ctx context.Context, store objectstore.Store) (rawlog.Source, error) {
	s := &source{store: store, sizes: make(map[string]int64)}
	manifest, _, err := store.Get(ctx, rawlog.ManifestName)
	if errors.Is(err, objectstore.ErrNotFound) {
		if there, lerr := hasProcesses(ctx, store); lerr == nil && there {
			return s, nil
		}
		return nil, errors.Join(rawlog.MissingManifest(store.Address()), runsBelow(ctx, store))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the raw log's %s: %w", rawlog.ManifestName, err)
	}
	s.manifest = manifest
	return s, nil
}

// hasProcesses tells whether a place without run.json has the manifests of a
// run's processes.
func hasProcesses(ctx context.Context, store objectstore.Store) (there bool, err error) {
	err = store.List(ctx, objectstore.ListOptions{Prefix: "run-", Delimiter: "/"}, func(i objectstore.Info) error {
		there = there || rawlog.IsManifestName(i.Key)
		return nil
	})
	return there, err
}

// runsBelow names runs that lie one level below a place that is none, nil when
// there are none or they cannot be seen.
func runsBelow(ctx context.Context, store objectstore.Store) error {
	const look, name = 50, 3
	var runs []string
	var below []string
	err := store.List(ctx, objectstore.ListOptions{Delimiter: "/", Limit: look}, func(i objectstore.Info) error {
		if strings.HasSuffix(i.Key, "/") {
			below = append(below, i.Key)
		}
		return nil
	})
	if err != nil {
		return nil // the missing run.json is what is to be said
	}
	for _, key := range below {
		if len(runs) == name {
			break
		}
		_, err := store.Head(ctx, key+rawlog.ManifestName)
		there := err == nil
		if !there {
			there, _ = hasProcesses(ctx, store.Sub(key))
		}
		if there {
			runs = append(runs, store.Sub(key).Address())
		}
	}
	if len(runs) == 0 {
		return nil
	}
	return fmt.Errorf("runs lie below it, for instance %s", strings.Join(runs, ", "))
}

// source is a log in a store. Its methods may be called from any goroutine.
type source struct {
	store    objectstore.Store
	manifest []byte // nil where the log has those of processes

	mu    sync.Mutex
	sizes map[string]int64 // of what was listed
}

// Address implements rawlog.Source.
func (s *source) Address() string { return s.store.Address() }

// List implements rawlog.Source.
func (s *source) List(ctx context.Context) ([]string, error) {
	var names []string
	sizes := make(map[string]int64)
	err := s.store.List(ctx, objectstore.ListOptions{}, func(i objectstore.Info) error {
		if !strings.HasSuffix(i.Key, "/") {
			names = append(names, i.Key)
			sizes[i.Key] = i.Size
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the raw log: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes = sizes
	return names, nil
}

// Open implements rawlog.Source. The object lives until it is closed; ctx ends
// its reads.
func (s *source) Open(ctx context.Context, name string) (rawlog.Object, error) {
	if name == rawlog.ManifestName && s.manifest != nil {
		return rawlog.Memory(s.manifest), nil
	}
	size, err := s.size(ctx, name)
	if err != nil {
		return nil, s.openError(name, err)
	}
	if size > wholeBytes {
		return &ranges{ctx: ctx, store: s.store, key: name, size: size}, nil
	}
	body, _, err := s.store.Get(ctx, name)
	if err != nil {
		return nil, s.openError(name, err)
	}
	return rawlog.Memory(body), nil
}

func (s *source) size(ctx context.Context, name string) (int64, error) {
	s.mu.Lock()
	size, ok := s.sizes[name]
	s.mu.Unlock()
	if ok {
		return size, nil
	}
	info, err := s.store.Head(ctx, name)
	return info.Size, err
}

func (s *source) openError(name string, err error) error {
	if errors.Is(err, objectstore.ErrNotFound) {
		return fmt.Errorf("%s is missing from the raw log at %s (an interrupted run names what it left in its spool): %w", name, s.store.Address(), err)
	}
	return fmt.Errorf("reading %s of the raw log: %w", name, err)
}

// ranges is an object of which each read fetches a range.
type ranges struct {
	ctx   context.Context
	store objectstore.Store
	key   string
	size  int64
}

// ReadAt implements io.ReaderAt.
func (r *ranges) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 || offset >= r.size {
		return 0, io.EOF
	}
	b, _, err := r.store.GetRange(r.ctx, r.key, offset, min(int64(len(p)), r.size-offset))
	n := copy(p, b)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Size implements rawlog.Object.
func (r *ranges) Size() int64 { return r.size }

// Close implements rawlog.Object.
func (r *ranges) Close() error { return nil }
