package objectstore_test

import (
	"testing"

	"queuebench/objectstore"
)

func backends(t *testing.T) []backend {
	return []backend{
		{name: "folder", open: func(t *testing.T) objectstore.Store {
			s, err := objectstore.OpenFolder(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			return s
		}},
		{name: "folder without fsync", open: func(t *testing.T) objectstore.Store {
			s, err := objectstore.FolderOptions{NoSync: true}.Open(t.TempDir() + "/made/later")
			if err != nil {
				t.Fatal(err)
			}
			return s
		}},
	}
}
