package rawlog

import (
	"math"
	"unsafe"

	"github.com/parquet-go/parquet-go/format"
)

// place is where a column of a row group lies: what a reader keeps of a footer,
// which takes ten times as much.
type place struct {
	start, size, values int64
	codec               format.CompressionCodec
	missing             bool // the row group has no such column
}

// place keeps where the columns that are read lie.
func (r *PartReader) place(meta *format.FileMetaData) {
	r.groups, r.places = r.groups[:0], r.places[:0]
	for i := range meta.RowGroups {
		g := &meta.RowGroups[i]
		r.groups = append(r.groups, int(min(g.NumRows, math.MaxInt32)))
		for _, l := range r.leaves {
			if l.index == absent || l.index >= len(g.Columns) {
				r.places = append(r.places, place{missing: true})
				continue
			}
			m := &g.Columns[l.index].MetaData
			p := place{start: m.DataPageOffset, size: m.TotalCompressedSize, values: m.NumValues, codec: m.Codec}
			if d := m.DictionaryPageOffset; d > 0 && d < p.start {
				p.start = d
			}
			r.places = append(r.places, p)
		}
	}
}

// checkExtent refuses a file whose columns claim more bytes than there are, for
// instance since many of them point to the same ones.
func checkExtent(meta *format.FileMetaData, data int64) error {
	left := data
	for i := range meta.RowGroups {
		for j := range meta.RowGroups[i].Columns {
			size := meta.RowGroups[i].Columns[j].MetaData.TotalCompressedSize
			if size < 0 || size > left {
				return damaged("row group %d, column %d: %d bytes are claimed where %d are left", i, j, size, left)
			}
			left -= size
		}
	}
	return nil
}

// Held is the memory that the reader keeps until it is read to its end, bytes: of
// the batch, of the row group at hand and of where the others lie.
func (r *PartReader) Held() int64 {
	n := int64(cap(r.places))*int64(unsafe.Sizeof(place{})) + int64(cap(r.groups))*8 + int64(len(r.leaves))*int64(unsafe.Sizeof(chunk{})+unsafe.Sizeof(Values{}))
	for i := range r.columns[:cap(r.columns)] {
		v := &r.columns[:cap(r.columns)][i]
		n += int64(cap(v.ints))*8 + int64(cap(v.codes))*4 + int64(cap(v.mask)) + int64(cap(v.dictInts))*8 + int64(cap(v.Dict))*16 + v.text
	}
	for i := range r.chunks[:cap(r.chunks)] {
		c := &r.chunks[:cap(r.chunks)][i]
		n += int64(cap(c.stored) + cap(c.page.memory))
	}
	return n
}
