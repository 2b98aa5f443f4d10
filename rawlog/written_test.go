package rawlog_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
)

// memory is a store that keeps what the writer puts there.
type memory struct {
	objectstore.Store // nil: the writer puts, and calls nothing else
	mu                sync.Mutex
	objects           map[string][]byte
}

func (m *memory) PutFile(_ context.Context, key string, r io.ReaderAt, size int64, _ objectstore.PutOptions) error {
	b := make([]byte, size)
	if n, err := r.ReadAt(b, 0); int64(n) < size {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[key] = b
	return nil
}

// writeParts writes rows of one table, in parts of at most partRows (0: one
// part), and returns the stored parts in order.
func writeParts[T any](t testing.TB, rows []T, partRows int, open func(*logwriter.Log) *logwriter.Writer[T]) [][]byte {
	t.Helper()
	store := &memory{objects: make(map[string][]byte)}
	l, err := logwriter.New(logwriter.Options{
		Store: store, Run: "run-1", Clock: clock.Identity{Host: "host", AnchorNs: 7},
		SpoolDir: t.TempDir() + "/spool", PartAge: time.Hour, PartRows: partRows,
	})
	if err != nil {
		t.Fatal(err)
	}
	w := open(l)
	for i := range rows {
		w.Append(rows[i])
	}
	w.Close()
	if _, err := l.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	var parts [][]byte
	for _, p := range l.Parts(0, 0) {
		parts = append(parts, store.objects[p.Name])
	}
	return parts
}

// tables are the five tables with a generator of rows that may hold anything.
type tableCase struct {
	table *rawlog.Table
	// write writes n random rows and returns the parts and the rows' columns,
	// a null as nil.
	write func(t testing.TB, rng *rand.Rand, n, partRows int) ([][]byte, [][]any)
}

func caseOf[T any](table *rawlog.Table, open func(*logwriter.Log) *logwriter.Writer[T]) tableCase {
	return tableCase{table, func(t testing.TB, rng *rand.Rand, n, partRows int) ([][]byte, [][]any) {
		rows := make([]T, n)
		columns := make([][]any, len(table.Columns))
		nulls := rng.IntN(4) // none, some, most, all
		for i := range rows {
			v := reflect.ValueOf(&rows[i]).Elem()
			for c := range table.Columns {
				randomField(rng, v.Field(c), table.Columns[c].Optional, nulls)
				columns[c] = append(columns[c], fieldValue(table, c, v.Field(c)))
			}
		}
		return writeParts(t, rows, partRows, open), columns
	}}
}

func tableCases() []tableCase {
	return []tableCase{
		caseOf(&rawlog.Sent, func(l *logwriter.Log) *logwriter.SentWriter { return l.Sent(0, 0, "a") }),
		caseOf(&rawlog.Received, func(l *logwriter.Log) *logwriter.ReceivedWriter { return l.Received(0, 0, "a") }),
		caseOf(&rawlog.Seconds, func(l *logwriter.Log) *logwriter.SecondsWriter { return l.Seconds(0, 0, "a") }),
		caseOf(&rawlog.Batches, func(l *logwriter.Log) *logwriter.BatchesWriter { return l.Batches(0, 0, "a") }),
		caseOf(&rawlog.Events, func(l *logwriter.Log) *logwriter.EventsWriter { return l.Events(0, 0, "a") }),
	}
}

func randomField(rng *rand.Rand, f reflect.Value, optional bool, nulls int) {
	null := optional && rng.IntN(3) < nulls
	switch f.Kind() {
	case reflect.Int32, reflect.Int64:
		bits := 63
		if f.Kind() == reflect.Int32 {
			bits = 31
		}
		v := int64(rng.Uint64()) >> (63 - rng.IntN(bits+1))
		switch rng.IntN(8) {
		case 0:
			v = -v
		case 1:
			v = math.MaxInt64 >> (63 - bits)
		case 2:
			v = math.MinInt64 >> (63 - bits)
		}
		f.SetInt(v)
		if null {
			f.SetInt(-1) // of partition and offset
		}
	case reflect.String:
		words := []string{"", "create", "append", "größer", "a\x00b", "with \"quotes\""}
		f.SetString(words[rng.IntN(len(words))])
		if rng.IntN(4) == 0 {
			f.SetString(fmt.Sprint(rng.Uint64()))
		}
		if null {
			f.SetString("")
		}
	case reflect.Uint8:
		f.SetUint(uint64(rng.IntN(4)))
	}
}

// fieldValue is what a reader should see of a field.
func fieldValue(table *rawlog.Table, c int, f reflect.Value) any {
	col := table.Columns[c]
	switch f.Kind() {
	case reflect.Uint8:
		return rawlog.Status(f.Uint()).String()
	case reflect.String:
		if col.Optional && f.String() == "" {
			return nil
		}
		return f.String()
	}
	null := rawlog.Null
	switch {
	case col.Name == "partition" || col.Name == "offset":
		null = -1
	case table == &rawlog.Sent || table == &rawlog.Received:
		null = 0
	}
	if col.Optional && f.Int() == null {
		return nil
	}
	return f.Int()
}

// readColumns reads parts with the package's reader.
func readColumns(t testing.TB, parts [][]byte, names ...string) [][]any {
	t.Helper()
	var columns [][]any
	r := new(rawlog.PartReader)
	for i, part := range parts {
		if err := r.Open(rawlog.Memory(part), names...); err != nil {
			t.Fatalf("part %d: %v", i, err)
		}
		rows := int64(0)
		for r.Next() {
			rows += int64(r.Len())
			for c, v := range r.Columns() {
				for len(columns) <= c {
					columns = append(columns, nil)
				}
				columns[c] = append(columns[c], values(t, v, r.Len())...)
			}
		}
		if r.Err() != nil {
			t.Fatalf("part %d: %v", i, r.Err())
		}
		if rows != r.Rows() {
			t.Errorf("part %d has %d rows, %d were read", i, r.Rows(), rows)
		}
	}
	return columns
}

func values(t testing.TB, v rawlog.Values, n int) []any {
	t.Helper()
	out := make([]any, n)
	for i := range n {
		valid := v.Valid == nil || v.Valid[i]
		if v.Type == rawlog.String {
			if valid != (v.Codes[i] >= 0) {
				t.Fatalf("column %s, row %d: valid %v, code %d", v.Name, i, valid, v.Codes[i])
			}
			if valid {
				out[i] = v.String(i)
			}
			continue
		}
		if valid {
			out[i] = v.Ints[i]
		} else if v.Ints[i] != rawlog.Null {
			t.Fatalf("column %s, row %d: a null is %d", v.Name, i, v.Ints[i])
		}
	}
	return out
}

func compareColumns(t *testing.T, table *rawlog.Table, got, want [][]any) {
	t.Helper()
	for c, col := range table.Columns {
		var g []any
		if c < len(got) {
			g = got[c]
		}
		if len(g) != len(want[c]) {
			t.Errorf("%s.%s: %d values, want %d", table.Name, col.Name, len(g), len(want[c]))
			continue
		}
		for i := range g {
			if g[i] != want[c][i] {
				t.Errorf("%s.%s: row %d is %v, want %v", table.Name, col.Name, i, g[i], want[c][i])
				break
			}
		}
	}
}
