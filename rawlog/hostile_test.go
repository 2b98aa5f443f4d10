package rawlog_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"queuebench/rawlog"
)

// foreign is the table events as another program might write it.
type foreign struct {
	Extra  float64 `parquet:"extra"`
	TimeNs int64   `parquet:"time_ns"`
	Nested struct {
		A int64  `parquet:"a"`
		B string `parquet:"b"`
	} `parquet:"nested"`
	Actor      string `parquet:"actor,dict"`
	Kind       string `parquet:"kind,plain"`
	Text       string `parquet:"text,dict"`
	DurationNs *int64 `parquet:"duration_ns"`
}

func eventsIdentity() string {
	b, _ := json.Marshal(rawlog.Part{Schema: rawlog.SchemaVersion, Table: "events", Actor: "x"})
	return string(b)
}

func foreignRows(n int) []foreign {
	rows := make([]foreign, n)
	for i := range rows {
		rows[i] = foreign{TimeNs: int64(i) * 7, Actor: []string{"a", "b"}[i%2], Kind: strings.Repeat("k", i%5), Text: "t"}
		if i%3 > 0 {
			d := int64(-i)
			rows[i].DurationNs = &d
		}
	}
	return rows
}

func foreignPart(t testing.TB, rows []foreign, opt ...parquet.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[foreign](&out, append(opt, parquet.KeyValueMetadata(rawlog.PartKey, eventsIdentity()))...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func foreignParts(t testing.TB) [][]byte {
	rows := foreignRows(500)
	return [][]byte{
		foreignPart(t, rows, parquet.DataPageVersion(2)),
		foreignPart(t, rows, parquet.DataPageVersion(1)),
		foreignPart(t, rows, parquet.DataPageVersion(2), parquet.Compression(&parquet.Zstd)),
		foreignPart(t, rows, parquet.DataPageVersion(1), parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(300)),
	}
}

func TestOtherWritersOfTheSameTable(t *testing.T) {
	for i, b := range foreignParts(t) {
		got := readColumns(t, [][]byte{b}, "time_ns", "actor", "kind", "text", "duration_ns")
		for j, row := range foreignRows(500) {
			var d any
			if row.DurationNs != nil {
				d = *row.DurationNs
			}
			want := []any{row.TimeNs, row.Actor, row.Kind, row.Text, d}
			for c := range want {
				if got[c][j] != want[c] {
					t.Fatalf("file %d, column %d, row %d: %v, want %v", i, c, j, got[c][j], want[c])
				}
			}
		}
	}
}

func TestWhatTheReaderDoesNotRead(t *testing.T) {
	rows := foreignRows(10)
	check := func(name string, b []byte, want error, text string) {
		t.Helper()
		_, err := readAll(t, b)
		if !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: error is %v, want %v with %q", name, err, want, text)
		}
	}
	check("snappy", foreignPart(t, rows, parquet.Compression(&parquet.Snappy)), rawlog.ErrUnsupported, "SNAPPY")
	check("gzip", foreignPart(t, rows, parquet.Compression(&parquet.Gzip)), rawlog.ErrUnsupported, "GZIP")

	write := func(v any, identity string) []byte {
		var out bytes.Buffer
		w := parquet.NewWriter(&out, parquet.SchemaOf(v))
		if identity != "" {
			w.SetKeyValueMetadata(rawlog.PartKey, identity)
		}
		if err := errors.Join(w.Write(v), w.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	type unsigned struct {
		TimeNs uint64 `parquet:"time_ns"`
	}
	type milliseconds struct {
		TimeNs int64 `parquet:"time_ns,timestamp(millisecond)"`
	}
	type repeated struct {
		TimeNs []int64 `parquet:"time_ns"`
	}
	type narrow struct {
		TimeNs int32 `parquet:"time_ns"`
	}
	check("an unsigned column", write(&unsigned{}, eventsIdentity()), rawlog.ErrSchema, "table events, column time_ns: its type is INT64 INT(64,false)")
	check("another unit", write(&milliseconds{}, eventsIdentity()), rawlog.ErrSchema, "TIMESTAMP")
	check("a narrow column", write(&narrow{}, eventsIdentity()), rawlog.ErrSchema, "INT32")
	check("a repeated column", write(&repeated{}, eventsIdentity()), rawlog.ErrSchema, "repeated")
	type short struct {
		TimeNs int64 `parquet:"time_ns"`
	}
	check("a missing column", write(&short{}, eventsIdentity()), rawlog.ErrSchema, "table events has no column actor")
	check("no identity", write(&short{}, ""), rawlog.ErrNotAPart, rawlog.PartKey)
	check("a newer version", write(&short{}, `{"schema":"queuebench.run/2","table":"events"}`), rawlog.ErrNewer, "use a newer analyze")
	check("a table unknown", write(&short{}, `{"schema":"queuebench.run/1","table":"weather"}`), rawlog.ErrUnsupported, "weather")
	check("another format", []byte("producer,seq,intended_ns\n1,2,3\n"), rawlog.ErrNotAPart, "no Parquet")
	check("nothing", nil, rawlog.ErrNotAPart, "too few")

	type nullable struct {
		TimeNs *int64 `parquet:"time_ns"`
		Actor  string `parquet:"actor,plain"`
		Kind   string `parquet:"kind,plain"`
		Text   string `parquet:"text,plain"`
		D      *int64 `parquet:"duration_ns"`
	}
	one := int64(1)
	if _, err := readAll(t, write(&nullable{TimeNs: &one}, eventsIdentity())); err != nil {
		t.Errorf("an optional column without a null: %v", err)
	}
	check("a null where none may be", write(&nullable{}, eventsIdentity()), rawlog.ErrSchema, "it has a null, and may not")
}

// Each truncation, and many altered bits, of a small part: an error or the
// rows, never a panic, never other rows of another number.
func TestDamagedParts(t *testing.T) {
	for _, b := range append(seedParts(t)[1:12:12], foreignParts(t)...) {
		for n := range len(b) {
			if n > 100 && n < len(b)-100 && n%101 != 0 {
				continue
			}
			if _, err := readAll(t, b[:n]); err == nil {
				t.Fatalf("%d of %d bytes were read without an error", n, len(b))
			}
		}
		rng := rand.New(rand.NewPCG(1, uint64(len(b))))
		for range 500 {
			c := append([]byte(nil), b...)
			for range 1 + rng.IntN(3) {
				c[rng.IntN(len(c))] ^= 1 << rng.IntN(8)
			}
			readAll(t, c)
			if r, err := rawlog.OpenUnchecked(rawlog.Memory(c)); err == nil {
				readOpened(t, r)
			}
		}
	}
}

// A bit that changes in a page is noticed: its checksum no longer fits.
func TestAlteredPagesAreNoticed(t *testing.T) {
	parts, _ := tableCases()[0].write(t, rand.New(rand.NewPCG(4, 4)), 3000, 0)
	b := parts[0]
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Metadata().RowGroups[0].Columns {
		end := c.MetaData.DataPageOffset + c.MetaData.TotalCompressedSize - 1
		if d := c.MetaData.DictionaryPageOffset; d > 0 {
			end = d + c.MetaData.TotalCompressedSize - 1
		}
		altered := append([]byte(nil), b...)
		altered[end] ^= 4
		if _, err := readAll(t, altered); !errors.Is(err, rawlog.ErrDamaged) {
			t.Errorf("column %s: a changed byte in its last page: %v", c.MetaData.PathInSchema, err)
		}
	}
}

// hostile makes a Parquet file from metadata that lies.
func hostile(body []byte, change func(*format.FileMetaData)) []byte {
	column := func(name string, typ format.Type, optional bool) format.SchemaElement {
		e := format.SchemaElement{Name: name}
		e.Type.Set(typ)
		e.RepetitionType.Set(format.Required)
		if optional {
			e.RepetitionType.Set(format.Optional)
		}
		return e
	}
	root := format.SchemaElement{Name: "events"}
	root.NumChildren.Set(5)
	meta := &format.FileMetaData{
		Version: 1, NumRows: 1,
		Schema: []format.SchemaElement{root,
			column("time_ns", format.Int64, false), column("actor", format.ByteArray, false), column("kind", format.ByteArray, false),
			column("text", format.ByteArray, false), column("duration_ns", format.Int64, true)},
		KeyValueMetadata: []format.KeyValue{{Key: rawlog.PartKey, Value: eventsIdentity()}},
	}
	columns := make([]format.ColumnChunk, 5)
	for i := range columns {
		columns[i].MetaData = format.ColumnMetaData{Type: meta.Schema[i+1].Type.V, NumValues: 1, DataPageOffset: 4, TotalCompressedSize: int64(len(body)) / 5, Codec: format.Zstd}
	}
	meta.RowGroups = []format.RowGroup{{Columns: columns, NumRows: 1}}
	if change != nil {
		change(meta)
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
	if err != nil {
		panic(err)
	}
	return enclose(body, footer)
}

func enclose(body, footer []byte) []byte {
	b := append([]byte("PAR1"), body...)
	b = append(b, footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, "PAR1"...)
}

func pageOf(header format.PageHeader, body []byte) []byte {
	h, err := thrift.Marshal(new(thrift.CompactProtocol), &header)
	if err != nil {
		panic(err)
	}
	return append(h, body...)
}

// zeros is n zero bytes, compressed to almost none.
func zeros(n int) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(make([]byte, n), nil)
}

func TestSizesAreNotTakenOnTrust(t *testing.T) {
	bomb := zeros(64 << 20)
	dataPage := func(uncompressed, values int32, body []byte) []byte {
		h := format.PageHeader{Type: format.DataPage, UncompressedPageSize: uncompressed, CompressedPageSize: int32(len(body))}
		h.DataPageHeader.Set(format.DataPageHeader{NumValues: values, Encoding: format.Plain, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})
		return pageOf(h, body)
	}
	dictionary := func(uncompressed, values int32, body []byte) []byte {
		h := format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: uncompressed, CompressedPageSize: int32(len(body))}
		h.DictionaryPageHeader.Set(format.DictionaryPageHeader{NumValues: values})
		return pageOf(h, body)
	}
	// first makes body the first column.
	first := func(body []byte, change func(*format.FileMetaData)) []byte {
		return hostile(body, func(m *format.FileMetaData) {
			for i := range m.RowGroups[0].Columns {
				m.RowGroups[0].Columns[i].MetaData.TotalCompressedSize = 0
			}
			m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = int64(len(body))
			if change != nil {
				change(m)
			}
		})
	}
	manyRows := func(rows int64) func(*format.FileMetaData) {
		return func(m *format.FileMetaData) {
			m.NumRows, m.RowGroups[0].NumRows = rows, rows
			for i := range m.RowGroups[0].Columns {
				m.RowGroups[0].Columns[i].MetaData.NumValues = rows
			}
		}
	}
	deep := bytes.Repeat([]byte{0x1C}, 7<<20) // a structure in a structure in …
	for name, b := range map[string][]byte{
		"a bomb that says its size":        first(dataPage(1<<30, 1, bomb), nil),
		"a bomb that hides its size":       first(dataPage(8, 1, bomb), nil),
		"a bomb below the page's limit":    first(dataPage(15<<20, 1, zeros(15<<20)), nil),
		"many bombs below the page's":      first(bytes.Repeat(dataPage(4000, 0, zeros(4000)), 10_000), nil),
		"a bomb of a dictionary":           first(dictionary(15<<20, 1, zeros(15<<20)), nil),
		"a dictionary larger than rows":    first(dictionary(4000, 1000, zeros(4000)), nil),
		"a row group of 2^40 rows":         first(dataPage(8, 1, zeros(8)), manyRows(1<<40)),
		"a row group of as many as may be": first(dataPage(8, 1, zeros(8)), manyRows(rawlog.MaxRowGroupRows)),
		"negative rows":                    first(dataPage(8, 1, zeros(8)), manyRows(-1)),
		"a page before the file":           first(dataPage(8, 1, zeros(8)), func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = -1 << 62 }),
		"a page behind the file":           first(dataPage(8, 1, zeros(8)), func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = 1 << 62 }),
		"a chunk of 2^62 bytes":            first(dataPage(8, 1, zeros(8)), func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 62 }),
		"no column chunks":                 first(dataPage(8, 1, zeros(8)), func(m *format.FileMetaData) { m.RowGroups[0].Columns = nil }),
		"one chunk a thousand times": first(dataPage(8, 1, zeros(8)), func(m *format.FileMetaData) {
			for range 1000 {
				m.RowGroups = append(m.RowGroups, m.RowGroups[0])
			}
			m.NumRows = 1001
		}),
		"a schema that is cut off": first(nil, func(m *format.FileMetaData) {
			m.Schema[1].NumChildren.Set(1 << 30)
		}),
		"a list of 2^31 columns": enclose(nil, []byte{0x15, 2, 0x19, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0x07}),
		"a text of 2^31 bytes":   enclose(nil, []byte{0x15, 2, 0x68, 0xFF, 0xFF, 0xFF, 0xFF, 0x07}),
		"a nest":                 enclose(nil, deep),
		"a nest in a page":       first(deep, nil),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readAll(t, b)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s was read", name)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("%s: %d MB were allocated", name, used>>20)
		}
		t.Logf("%s: %v, %d kB", name, err, (after.TotalAlloc-before.TotalAlloc)>>10)
	}
}
