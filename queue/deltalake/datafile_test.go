package deltalake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"queuebench/queue"
)

// Whatever is encoded is decoded, in every schema and codec.
func TestDataFileRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, schema := range []Schema{DataOnly, Pathway} {
		for _, codec := range []Codec{None, Snappy, Zstd} {
			t.Run(fmt.Sprintf("%s/%s", schema, codec), func(t *testing.T) {
				e, err := newEncoder(&Config{Column: "data", Schema: schema, Codec: codec})
				if err != nil {
					t.Fatal(err)
				}
				d := decoder{column: "data", retracts: schema == Pathway, partition: 3}
				b := newBatch(smallPage / 2)
				for k, n := range []int{1, 2, 5000, 3, 9000, 5000, 7000, 1} { // of several pages, and again of one
					b.lent = k == 3 || k == 6 // a request still reads the file
					before, beforeWas, lent := b.file, bytes.Clone(b.file), b.lent
					b.reset()
					var want [][]byte
					for i := range n {
						p := make([]byte, r.IntN(1+r.IntN(600)))
						for k := range p {
							p[k] = byte(r.Uint32())
						}
						// Every third run has no owner any more.
						owner := &Producer{}
						b.add(owner, int64(i), p)
						if k%2 == 0 && i%3 == 2 {
							b.runs[len(b.runs)-1].dead = true
						} else {
							want = append(want, p)
						}
					}
					b.seal()
					if err := e.encode(b, 1235); err != nil {
						t.Fatal(err)
					}
					got, _, err := d.decode(b.file, 9, nil)
					if err != nil || len(got) != len(want) || b.rows != int64(len(want)) {
						t.Fatalf("%d of %d rows came back: %v", len(got), len(want), err)
					}
					checkWithParquetGo(t, b.file, schema, want)
					if lent && !bytes.Equal(before, beforeWas) {
						t.Fatal("a file that was being read was written to")
					}
					for i := range got {
						if !bytes.Equal(got[i].Payload, want[i]) || got[i].Offset != 9 || got[i].Partition != 3 {
							t.Fatalf("row %d: %+v, expected the payload %x", i, got[i], want[i])
						}
					}
				}
			})
		}
	}
}

// checkWithParquetGo reads a file as others would: by its own schema, with
// values copied, and with no bounds that could skip rows.
func checkWithParquetGo(t *testing.T, body []byte, schema Schema, want [][]byte) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	if f.NumRows() != int64(len(want)) || len(f.Metadata().RowGroups) != 1 {
		t.Fatalf("the footer tells of %d rows in %d groups, expected %d in one", f.NumRows(), len(f.Metadata().RowGroups), len(want))
	}
	for _, c := range f.Metadata().RowGroups[0].Columns {
		s := c.MetaData.Statistics
		if c.ColumnIndexOffset != 0 || s.Min != nil || s.Max != nil || s.MinValue != nil || s.MaxValue != nil || c.MetaData.NumValues != f.NumRows() {
			t.Fatalf("column %v has bounds, or %d values of %d", c.MetaData.PathInSchema, c.MetaData.NumValues, f.NumRows())
		}
	}
	rows := f.RowGroups()[0].Rows()
	defer rows.Close()
	buf := make([]parquet.Row, 100)
	for i := 0; ; {
		n, err := rows.ReadRows(buf)
		for _, row := range buf[:n] {
			if !bytes.Equal(row[0].ByteArray(), want[i]) || schema == Pathway && (row[1].Int64() != 1234 || row[2].Int64() != 1) {
				t.Fatalf("row %d is %v, expected the payload %x", i, row, want[i])
			}
			i++
		}
		if errors.Is(err, io.EOF) && i == len(want) {
			return
		}
		if err != nil {
			t.Fatalf("row %d of %d: %v", i, len(want), err)
		}
	}
}

type foreignRow struct {
	Data *string `parquet:"data,optional"`
	Time int64   `parquet:"time"`
	Diff int64   `parquet:"diff"`
}

// Files of other writers have dictionaries, nulls, several row groups, other
// page versions; and rows that take others back.
func TestForeignDataFiles(t *testing.T) {
	dictionary := parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.RLEDictionary)
	for name, options := range map[string][]parquet.WriterOption{
		"plain":      {},
		"small":      {parquet.MaxRowsPerRowGroup(7), parquet.PageBufferSize(64)},
		"page v2":    {parquet.DataPageVersion(2), parquet.Compression(&parquet.Snappy)},
		"page v1":    {parquet.DataPageVersion(1), parquet.Compression(&parquet.Zstd)},
		"dictionary": {parquet.DataPageVersion(1), dictionary, parquet.Compression(&parquet.Gzip)},
		"delta":      {parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.DeltaByteArray), parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked)},
	} {
		for _, nulls := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/nulls=%v", name, nulls), func(t *testing.T) {
				var rows []foreignRow
				var want []string
				back := 0
				for i := range 100 {
					s := fmt.Sprint("row ", i%13)
					row := foreignRow{Data: &s, Diff: 1}
					if nulls && i%5 == 0 {
						row.Data = nil
						s = ""
					}
					if i%10 == 9 {
						row.Diff = -1
						back++
					} else {
						want = append(want, s)
					}
					rows = append(rows, row)
				}
				var file bytes.Buffer
				if err := parquet.Write(&file, rows, options...); err != nil {
					t.Fatal(err)
				}
				d := decoder{column: "data", retracts: true}
				got, retractions, err := d.decode(file.Bytes(), 1, nil)
				if err != nil || len(got) != len(want) || retractions != back {
					t.Fatalf("%d of %d rows, %d of %d retractions: %v", len(got), len(want), retractions, back, err)
				}
				for i := range got {
					if string(got[i].Payload) != want[i] {
						t.Fatalf("row %d is %q, expected %q", i, got[i].Payload, want[i])
					}
				}
				d.column = "nothing"
				if _, _, err := d.decode(file.Bytes(), 1, nil); !errors.Is(err, ErrCorrupt) {
					t.Errorf("a file without the column: %v", err)
				}
			})
		}
	}
}

// What needs no other form is not copied: the file is where the batch is.
func TestBatchIsItsFile(t *testing.T) {
	for _, schema := range []Schema{DataOnly, Pathway} {
		e, err := newEncoder(&Config{Column: "data", Schema: schema, Codec: None})
		if err != nil {
			t.Fatal(err)
		}
		b := newBatch(e.pageBytes())
		for round := range 3 {
			b.reset()
			for i := range 40_000 { // 4 MB
				b.add(&Producer{}, int64(i), bytes.Repeat([]byte{byte(i)}, 100))
			}
			b.seal()
			if err := e.encode(b, 0); err != nil {
				t.Fatal(err)
			}
			values := b.data[fileHead:]
			if at := bytes.Index(b.file[:fileHead], values[:20]); at < 0 || &b.file[at] != &values[0] || len(b.copied) > 0 {
				t.Fatalf("%s, round %d: the batch was copied", schema, round)
			}
			d := decoder{column: "data"}
			got, _, err := d.decode(b.file, 0, nil)
			if err != nil || len(got) != 40_000 || got[299].Payload[99] != 299%256 {
				t.Fatalf("%s, round %d: %d messages: %v", schema, round, len(got), err)
			}
		}
	}
}

// Our own files must take the short way, or the measured speed is gone.
func TestOwnFilesAreReadWhereTheyLie(t *testing.T) {
	e, err := newEncoder(&Config{Column: "data", Schema: DataOnly, Codec: None})
	if err != nil {
		t.Fatal(err)
	}
	b := filled(3000)
	b.seal()
	if err := e.encode(b, 0); err != nil {
		t.Fatal(err)
	}
	d := decoder{column: "data"}
	var dst []queue.Delivery
	allocs := testing.AllocsPerRun(10, func() {
		if dst, _, err = d.decode(b.file, 0, dst[:0]); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 300 {
		t.Errorf("%v allocations for a file of 3,000 messages", allocs)
	}
	allocs = testing.AllocsPerRun(10, func() {
		b.seal()
		if err := e.encode(b, 0); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 300 {
		t.Errorf("%v allocations to encode a file of 3,000 messages", allocs)
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy} {
		for _, version := range []int{1, 2} {
			var file bytes.Buffer
			x, y := "some payload", ""
			rows := []foreignRow{{Data: &x, Diff: 1}, {Data: nil, Diff: 1}, {Data: &y, Diff: -1}}
			if err := parquet.Write(&file, rows, parquet.Compression(c), parquet.DataPageVersion(version)); err != nil {
				f.Fatal(err)
			}
			f.Add(file.Bytes())
		}
	}
	e, err := newEncoder(&Config{Column: "data", Schema: Pathway, Codec: None})
	if err != nil {
		f.Fatal(err)
	}
	b := filled(3)
	b.seal()
	if err := e.encode(b, 0); err != nil {
		f.Fatal(err)
	}
	f.Add(b.file)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, retracts := range []bool{false, true} {
			d := decoder{column: "data", retracts: retracts}
			got, _, err := d.decode(body, 1, nil)
			if err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("an error of another kind: %v", err)
			}
			for _, m := range got {
				if len(m.Payload) > 0 {
					_ = m.Payload[len(m.Payload)-1]
				}
			}
		}
	})
}

// A damaged file is an error, and neither a panic nor a claim on all memory.
func TestDamagedDataFiles(t *testing.T) {
	e, err := newEncoder(&Config{Column: "data", Schema: Pathway, Codec: Snappy})
	if err != nil {
		t.Fatal(err)
	}
	b := filled(50)
	b.seal()
	if err := e.encode(b, 0); err != nil {
		t.Fatal(err)
	}
	text := "some text"
	var foreign bytes.Buffer
	if err := parquet.Write(&foreign, []foreignRow{{&text, 1, 1}, {nil, 1, -1}, {&text, 2, 1}}, parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.RLEDictionary)); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const rounds = 3000
	for i := range rounds {
		body := bytes.Clone([][]byte{b.file, foreign.Bytes()}[i%2])
		for range 1 + r.IntN(4) {
			body[r.IntN(len(body))] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(r.Uint32())}[r.IntN(6)]
		}
		if i%7 == 0 {
			body = body[:r.IntN(len(body))]
		}
		d := decoder{column: "data", retracts: true}
		if _, _, err := d.decode(body, 1, nil); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("an error of another kind: %v", err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / rounds; each > 2<<20 {
		t.Errorf("a damaged file of a few kB took %d B on average", each)
	}
}
