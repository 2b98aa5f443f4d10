package rawlog_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime/metrics"
	"testing"

	"github.com/parquet-go/parquet-go"

	"queuebench/internal/parquettest"
	"queuebench/rawlog"
)

// readAll reads a part as a program would, and checks what a program relies on.
func readAll(t testing.TB, b []byte) (rows int64, err error) {
	r, err := rawlog.OpenPart(rawlog.Memory(b))
	if err != nil {
		return 0, err
	}
	return readOpened(t, r)
}

func readOpened(t testing.TB, r *rawlog.PartReader) (rows int64, err error) {
	for r.Next() {
		if r.Len() < 1 || r.Len() > rawlog.MaxRowGroupRows {
			t.Fatalf("a batch of %d rows", r.Len())
		}
		rows += int64(r.Len())
		for _, v := range r.Columns() {
			if len(v.Ints)+len(v.Codes) != r.Len() || v.Valid != nil && len(v.Valid) != r.Len() {
				t.Fatalf("column %s has %d numbers, %d codes, %d marks for %d rows", v.Name, len(v.Ints), len(v.Codes), len(v.Valid), r.Len())
			}
			for i, c := range v.Codes {
				if c < -1 || int(c) >= len(v.Dict) {
					t.Fatalf("column %s, row %d: code %d of %d", v.Name, i, c, len(v.Dict))
				}
			}
		}
	}
	if r.Err() == nil && rows != r.Rows() {
		t.Fatalf("%d rows were read, the part has %d", rows, r.Rows())
	}
	return rows, r.Err()
}

func seedParts(t testing.TB) [][]byte {
	var seeds [][]byte
	for _, c := range tableCases() {
		for _, n := range []int{0, 1, 40, 700} {
			parts, _ := c.write(t, rand.New(rand.NewPCG(uint64(n), 3)), n, 0)
			seeds = append(seeds, parts...)
		}
	}
	return append(seeds, foreignParts(t)...)
}

// fuzzedParts are small parts of each table, as they are written and bare: what
// is altered in those reaches the decoders.
func fuzzedParts(t testing.TB) [][]byte {
	var seeds [][]byte
	for _, c := range tableCases() {
		for _, n := range []int{1, 12} {
			parts, _ := c.write(t, rand.New(rand.NewPCG(uint64(n), 3)), n, 0)
			seeds = append(seeds, parts[0], parquettest.Bare(t, parts[0]))
		}
	}
	for _, opt := range [][]parquet.WriterOption{
		{parquet.DataPageVersion(2)}, {parquet.DataPageVersion(1)}, {parquet.DataPageVersion(2), parquet.Compression(&parquet.Zstd)},
		{parquet.DataPageVersion(1), parquet.PageBufferSize(60)},
	} {
		b := foreignPart(t, foreignRows(20), opt...)
		seeds = append(seeds, b, parquettest.Bare(t, b))
	}
	return seeds
}

// FuzzPart reads files that were altered anywhere: pages, footer, lengths.
func FuzzPart(f *testing.F) {
	for _, b := range fuzzedParts(f) {
		if _, err := readAll(f, b); err != nil {
			f.Fatal(err)
		}
		f.Add(b, false)
	}
	f.Add(fuzzedParts(f)[1][:200], true)
	r := rawlog.Unchecked() // one for all, as a stream has: its memory is used again
	f.Fuzz(func(t *testing.T, b []byte, mend bool) {
		if mend {
			b = mended(b)
		}
		before := allocated()
		if r.Open(rawlog.Memory(b)) == nil {
			readOpened(t, r)
		}
		// All that was ever allocated: what was held at one time is less.
		if used := allocated() - before; used > mostFuzzed {
			t.Fatalf("%d MB were allocated to read %d bytes", used>>20, len(b))
		}
	})
}

// mostFuzzed is what a file of the fuzzer may take, bytes.
const mostFuzzed = 200 << 20

// allocated is the number of bytes that were ever allocated.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// mended puts magic and footer length back where an alteration of the size left
// them wrong, so that the fuzzer gets past the first check.
func mended(b []byte) []byte {
	b = append([]byte(nil), b...)
	if len(b) < 12 {
		return b
	}
	copy(b, "PAR1")
	copy(b[len(b)-4:], "PAR1")
	if n := binary.LittleEndian.Uint32(b[len(b)-8:]); int64(n) > int64(len(b)-12) {
		binary.LittleEndian.PutUint32(b[len(b)-8:], uint32(len(b)-12)/2)
	}
	return b
}
