package analysis

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"

	"queuebench/rawlog"
)

// memorySource is a log in memory.
type memorySource map[string][]byte

func (m memorySource) List(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(m)), nil
}

func (m memorySource) Open(_ context.Context, name string) (rawlog.Object, error) {
	b, ok := m[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return rawlog.Memory(b), nil
}

func (m memorySource) Address() string { return "memory" }

// loadSource reads a folder of testdata into memory.
func loadSource(dir string) (memorySource, error) {
	out := memorySource{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		out[name], err = fs.ReadFile(root, name)
		return err
	})
	return out, err
}

func (s memorySource) put(t testing.TB, m *rawlog.Manifest) {
	t.Helper()
	body, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	s[rawlog.ManifestName] = body
}
