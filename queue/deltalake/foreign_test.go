package deltalake

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/objectstore"
	"queuebench/queue"
)

// foreignTables is where tables of other engines (the Delta Acceptance Tests)
// lie, beside the project. They are read in place and are no part of it.
const foreignTables = "../../../shared/delta-tables"

// foreign opens the folder that has a table, where it lies, as "delta"; false
// where there are no tables.
func foreign(t *testing.T, name string) (objectstore.Store, bool) {
	t.Helper()
	dir := filepath.Join(foreignTables, name)
	if _, err := os.Stat(filepath.Join(dir, "delta")); err != nil {
		t.Logf("NOT TESTED: the tables of other engines are not there, put the Delta Acceptance Tests into %s to have them read: %v", foreignTables, err)
		return nil, false
	}
	s, err := objectstore.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, true
}

// A tail of what Spark wrote: appends are read as a queue, all else is refused
// by name.
func TestForeignTablesAsQueues(t *testing.T) {
	for name, c := range map[string]struct {
		column string
		rows   int
		err    error
		says   string
	}{
		"basic_append":        {"letter", 5, nil, ""},
		"all_primitive_types": {"utf8", 5, nil, ""},
		"with_schema_change":  {"letter", 3, ErrUnsupported, "no column \"letter\""},
		"with_checkpoint":     {"letter", -1, ErrNotAppendOnly, "removes"},
		"no_replay":           {"letter", 0, ErrStartTooOld, "the oldest is 2"},
		"basic_partitioned":   {"letter", 0, ErrUnsupported, "partition column"},
	} {
		t.Run(name, func(t *testing.T) {
			store, ok := foreign(t, name)
			if !ok {
				return
			}
			got, err := received(t, Config{Store: store, Name: "delta", Column: c.column, ReadOnly: true}, queue.Start{})
			if c.rows >= 0 && len(got) != c.rows {
				t.Errorf("%d rows came, expected %d: %q", len(got), c.rows, got)
			}
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("the tail ended with %v, expected %v, saying %q", err, c.err, c.says)
			}
		})
	}
	if store, ok := foreign(t, "basic_append"); ok {
		got, err := received(t, Config{Store: store, Name: "delta", Column: "letter", ReadOnly: true}, queue.Start{})
		check(t, got, err, "a", "b", "c", "d", "e")
	}
}

// A table whose columns are not the writer's is not appended to.
func TestForeignTablesAreNotAppendedTo(t *testing.T) {
	if _, ok := foreign(t, "basic_append"); !ok {
		return
	}
	// A writer's probe would write beside the table.
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(foreignTables, "basic_append"))); err != nil {
		t.Fatal(err)
	}
	store, err := objectstore.FolderOptions{NoSync: true}.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = open(t, Config{Store: store, Name: "delta"}).Producer(t.Context(), queue.ProducerConfig{})
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "a_float double") {
		t.Errorf("a producer opened a table of other columns: %v", err)
	}
}
