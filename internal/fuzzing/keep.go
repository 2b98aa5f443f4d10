package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"queuebench/internal/coverage"
)

// What is kept of what targets found interesting, as seeds below testdata/fuzz, so that
// a clone has it and the tests run it.
const (
	keptPrefix    = "kept-"
	keptBytes     = 3 << 10 // of a target, at most
	keptCandidate = 64      // inputs of a target, the smallest, are looked at
)

// keep takes of each target's inputs in the cache the small ones, from the smallest on,
// each of which executes a statement that no seed and no smaller one did.
func keep(ctx context.Context, stdout io.Writer, all []target, cache string) error {
	cache, err := filepath.Abs(cache)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "queuebench-fuzzing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	room, program := "", filepath.Join(dir, "tests")
	for _, t := range all {
		inputs, err := candidates(filepath.Join(cache, filepath.FromSlash(t.room), t.name), t)
		if err != nil {
			return err
		}
		if len(inputs) == 0 {
			continue
		}
		if t.room != room {
			if err := coverage.Build(ctx, t.room, program); err != nil {
				return err
			}
			room = t.room
		}
		n, size, err := keepOf(ctx, program, t, inputs)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %d of %d inputs, %d bytes\n", t, n, len(inputs), size)
	}
	return nil
}

// input is one that a target found interesting.
type input struct {
	name string // of the seed that it becomes
	body []byte
}

// candidates are the smallest inputs of a target's cache that are no seed.
func candidates(cache string, t target) (all []input, err error) {
	entries, err := os.ReadDir(cache)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if info.Size() > keptBytes || e.IsDir() {
			continue
		}
		body, err := os.ReadFile(filepath.Join(cache, e.Name()))
		if err != nil {
			return nil, err
		}
		in := input{keptPrefix + e.Name(), body}
		if _, err := os.Stat(filepath.Join(seeds(t), in.name)); err == nil {
			continue
		}
		all = append(all, in)
	}
	slices.SortFunc(all, func(a, b input) int {
		return cmp.Or(len(a.body)-len(b.body), strings.Compare(a.name, b.name))
	})
	return all[:min(len(all), keptCandidate)], nil
}

// seeds is the folder of a target's seeds.
func seeds(t target) string {
	return filepath.Join(filepath.FromSlash(t.room), "testdata", "fuzz", t.name)
}

// keepOf writes those that are worth it, and says how many and how large all are that
// are kept of the target.
func keepOf(ctx context.Context, program string, t target, inputs []input) (n int, size int64, err error) {
	dir, room := seeds(t), filepath.FromSlash(t.room)
	reached, err := coverage.Run(ctx, program, room, "^"+t.name+"$")
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", t, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, 0, err
	}
	defer os.Remove(dir) // refuses a folder that is not empty
	kept, err := filepath.Glob(filepath.Join(dir, keptPrefix+"*"))
	if err != nil {
		return 0, 0, err
	}
	for _, name := range kept {
		info, err := os.Stat(name)
		if err != nil {
			return 0, 0, err
		}
		size += info.Size()
	}
	for _, in := range inputs {
		if size+int64(len(in.body)) > keptBytes {
			break
		}
		path := filepath.Join(dir, in.name)
		if err := os.WriteFile(path, in.body, 0o644); err != nil {
			return n, size, err
		}
		p, err := coverage.Run(ctx, program, room, "^"+t.name+"$/^"+in.name+"$")
		if err == nil && p.New(reached) {
			reached.Add(p)
			n, size = n+1, size+int64(len(in.body))
			continue
		}
		if rerr := os.Remove(path); rerr != nil {
			return n, size, rerr
		}
		if err != nil {
			return n, size, fmt.Errorf("%s: the input %s fails: %w", t, in.name, err)
		}
	}
	return n, size, nil
}
