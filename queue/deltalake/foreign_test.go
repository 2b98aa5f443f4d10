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

// foreign returns a copy of a table, so that nothing is written beside the
// original, or false where there are none.
func foreign(t *testing.T, name string) (objectstore.Store, bool) {
	t.Helper()
	from := filepath.Join(foreignTables, name, "delta")
	if _, err := os.Stat(from); err != nil {
		missing := "the tables of other engines are not there, put the Delta Acceptance Tests into " + foreignTables + " to have them read: " + err.Error()
		if os.Getenv("CI") != "" {
			t.Error(missing)
		} else {
			t.Log(missing)
		}
		return nil, false
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "table"), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	s, err := objectstore.FolderOptions{NoSync: true}.Open(dir)
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
			got, err := received(t, Config{Store: store, Name: "table", Column: c.column}, queue.Start{})
			if c.rows >= 0 && len(got) != c.rows {
				t.Errorf("%d rows came, expected %d: %q", len(got), c.rows, got)
			}
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("the tail ended with %v, expected %v, saying %q", err, c.err, c.says)
			}
		})
	}
	if store, ok := foreign(t, "basic_append"); ok {
		got, err := received(t, Config{Store: store, Name: "table", Column: "letter"}, queue.Start{})
		check(t, got, err, "a", "b", "c", "d", "e")
	}
}

// The log replayed, with removes and from checkpoints.
func TestForeignSnapshots(t *testing.T) {
	for name, version := range map[string]int64{"basic_append": 1, "basic_partitioned": 1, "all_primitive_types": 0, "with_schema_change": 1, "with_checkpoint": 3, "no_replay": 3} {
		store, ok := foreign(t, name)
		if !ok {
			continue
		}
		tb := open(t, Config{Store: store, Name: "table"}).tables[0]
		s, err := tb.snapshot(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.version != version || s.metaData.Format.Provider != "parquet" || s.protocol.MinReaderVersion != 1 {
			t.Errorf("%s: version %d, expected %d; %+v", name, s.version, version, s)
		}
		// Each file of the snapshot is there, as the log describes it.
		want := map[string]int64{}
		for _, f := range s.files {
			key, err := dataKey(f.Path)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			want[key] = f.Size
		}
		for key, size := range want {
			if body, err := tb.get(t.Context(), key); err != nil || int64(len(body)) != size {
				t.Errorf("%s: %s has %d bytes, the log says %d: %v", name, key, len(body), size, err)
			}
		}
		if len(want) == 0 {
			t.Errorf("%s: no file", name)
		}
	}
}

// A table whose columns are not the writer's is not appended to.
func TestForeignTablesAreNotAppendedTo(t *testing.T) {
	store, ok := foreign(t, "basic_append")
	if !ok {
		return
	}
	_, err := open(t, Config{Store: store, Name: "table"}).Producer(t.Context(), queue.ProducerConfig{})
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "a_float double") {
		t.Errorf("a producer opened a table of other columns: %v", err)
	}
}
