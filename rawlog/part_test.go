package rawlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"queuebench/internal/parquettest"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
)

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
