package rawlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"queuebench/clock"
	"queuebench/internal/parquettest"
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

func TestWhatIsWrittenIsRead(t *testing.T) {
	for seed, n := range []int{0, 1, 2, 31, 32, 33, 127, 129, 1000, 4096, 4097, 65537, 5000, 3} {
		for _, c := range tableCases() {
			if n > 10_000 && (c.table == &rawlog.Seconds || c.table == &rawlog.Batches) {
				continue // 29 columns by reflection: seconds for nothing new
			}
			t.Run(fmt.Sprintf("%s-%d", c.table.Name, n), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
				parts, want := c.write(t, rng, n, 0)
				compareColumns(t, c.table, readColumns(t, parts), want)
				for _, body := range parts {
					parquettest.CheckBounds(t, body)
				}
			})
		}
	}
}

// What a column holds may change from row group to row group. parquet-go's own
// reader takes a column's compression from the first.
func TestColumnsThatChangeWithinAPart(t *testing.T) {
	const group = 65536
	rng := rand.New(rand.NewPCG(8, 8))
	rows := make([]rawlog.ReceivedRow, 3*group+1000)
	for i := range rows {
		r := rawlog.ReceivedRow{Group: "g", Seq: int64(i), ReceivedNs: 5, Partition: -1, Offset: -1}
		if i/group == 1 { // nothing was null before, noise was constant
			r.ReceivedNs, r.BrokerNs, r.BrokerKind, r.Partition, r.Offset = rng.Int64(), rng.Int64(), "append", rng.Int32(), rng.Int64()
			r.Group = fmt.Sprint("group ", i%300)
		}
		rows[i] = r
	}
	for _, shift := range []int{0, group} { // and noise first
		part := writeParts(t, rows[shift:], 0, func(l *logwriter.Log) *logwriter.ReceivedWriter { return l.Received(0, 0, "a") })[0]
		if pages := parquettest.CheckBounds(t, part); pages != len(rawlog.Received.Columns)*((len(rows)-shift+group-1)/group) {
			t.Errorf("%d pages", pages)
		}
		r, err := rawlog.OpenPart(rawlog.Memory(part), "group", "received_ns", "broker_ns", "broker_kind", "partition", "offset")
		if err != nil {
			t.Fatal(err)
		}
		orNull := func(v, null int64) int64 {
			if v == null {
				return rawlog.Null
			}
			return v
		}
		at := shift
		for r.Next() {
			c := r.Columns()
			for i := range r.Len() {
				want := &rows[at]
				at++
				if c[0].String(i) != want.Group || c[1].Ints[i] != want.ReceivedNs || c[2].Ints[i] != orNull(want.BrokerNs, 0) ||
					c[3].String(i) != want.BrokerKind || c[4].Ints[i] != orNull(int64(want.Partition), -1) || c[5].Ints[i] != orNull(want.Offset, -1) {
					t.Fatalf("row %d is another", at-1)
				}
			}
		}
		if r.Err() != nil || at != len(rows) {
			t.Errorf("it ended at row %d of %d: %v", at, len(rows), r.Err())
		}
	}
}

// A row group is ended early when texts make it large: a reader has limits.
func TestLongTexts(t *testing.T) {
	const n = 300
	rows := make([]rawlog.EventRow, n)
	for i := range rows {
		rows[i] = rawlog.EventRow{Actor: "a", Text: fmt.Sprint(i, strings.Repeat("ä", 50_000)), DurationNs: rawlog.Null}
	}
	parts := writeParts(t, rows, 0, func(l *logwriter.Log) *logwriter.EventsWriter { return l.Events(0, 0, "a") })
	got := readColumns(t, parts, "text")
	for i := range rows {
		if got[0][i] != rows[i].Text {
			t.Fatalf("text %d is another", i)
		}
	}
	parquettest.CheckBounds(t, parts[0])
	f, err := parquet.OpenFile(bytes.NewReader(parts[0]), int64(len(parts[0])))
	if err != nil {
		t.Fatal(err)
	}
	if groups := f.RowGroups(); len(groups) < 2 || groups[0].NumRows() == 0 {
		t.Errorf("%d row groups", len(groups))
	}
}

func TestPartsFollowEachOther(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	c := tableCases()[0]
	parts, want := c.write(t, rng, 10_500, 1000)
	if len(parts) != 11 {
		t.Fatalf("%d parts", len(parts))
	}
	compareColumns(t, c.table, readColumns(t, parts), want)
	for i, b := range parts {
		r, err := rawlog.OpenPart(rawlog.Memory(b))
		if err != nil {
			t.Fatal(err)
		}
		p := r.Part()
		if p.Index != i || p.Last != (i == 10) || p.Run != "run-1" || p.Actor != "a" || p.Clock.Host != "host" || r.Table() != &rawlog.Sent {
			t.Errorf("part %d is %+v", i, p)
		}
		if (p.Watermark() == math.MaxInt64) != p.Last {
			t.Errorf("part %d: watermark %d", i, p.Watermark())
		}
	}
}

// The library's own reader is the independent one.
func TestParquetGoReadsTheSameValues(t *testing.T) {
	for _, c := range tableCases() {
		rng := rand.New(rand.NewPCG(5, 5))
		parts, want := c.write(t, rng, 5000, 0)
		f, err := parquet.OpenFile(bytes.NewReader(parts[0]), int64(len(parts[0])))
		if err != nil {
			t.Fatal(err)
		}
		got := make([][]any, len(c.table.Columns))
		for _, g := range f.RowGroups() {
			rows := g.Rows()
			buf := make([]parquet.Row, 100)
			for {
				n, err := rows.ReadRows(buf)
				for _, row := range buf[:n] {
					for _, v := range row {
						got[v.Column()] = append(got[v.Column()], anyOf(v))
					}
				}
				if errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			rows.Close()
		}
		compareColumns(t, c.table, got, want)
		for i, col := range f.Schema().Columns() {
			if col[0] != c.table.Columns[i].Name {
				t.Errorf("column %d is %s, want %s", i, col[0], c.table.Columns[i].Name)
			}
		}
	}
}

func anyOf(v parquet.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind() == parquet.Int32:
		return int64(v.Int32())
	case v.Kind() == parquet.Int64:
		return v.Int64()
	}
	return string(v.ByteArray())
}

func TestOnlyTheColumnsAskedFor(t *testing.T) {
	c := tableCases()[0]
	parts, want := c.write(t, rand.New(rand.NewPCG(1, 1)), 300, 0)
	got := readColumns(t, parts, "status", "seq")
	if len(got) != 2 || !reflect.DeepEqual(got[0], want[5]) || !reflect.DeepEqual(got[1], want[1]) {
		t.Error("columns asked for by name are not these")
	}
	if _, err := rawlog.OpenPart(rawlog.Memory(parts[0]), "latency"); err == nil {
		t.Error("a column that no table has was found")
	}
}
