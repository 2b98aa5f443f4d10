package rawlog

import (
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"
)

// PartReader reads a part, some thousand rows at a time. Its memory is used again for
// the next one, and for the next part that it opens.
//
//	r, err := rawlog.OpenPart(obj, "producer", "seq", "intended_ns")
//	for r.Next() {
//		for i, seq := range r.Columns()[1].Ints { … }
//	}
//	return r.Err()
//
// What it reads may be damaged or made to deceive: every number is checked
// before it is used, and its memory is bounded by the file's size and by
// MaxRowGroupRows, MaxPageBytes and MaxFooterBytes.
type PartReader struct {
	obj    Object
	part   Part
	table  *Table
	groups []int   // rows of each row group
	places []place // of its columns, as many as there are leaves for each
	data   int64   // where the footer begins: pages lie before it
	rows   int64

	leaves  []leaf
	columns []Values
	chunks  []chunk
	next    int // row group
	left    int // rows of the row group at hand
	batch   int // rows of the current batch
	err     error

	*Workspace

	unchecked bool // checksums are not looked at: for tests of what is behind them
}

// Values are the values of a column in a batch. All of it is valid until the
// next call of Next.
type Values struct {
	Column
	// Ints are the values of a number, a 32-bit one widened; Null where it is
	// null. Nil for a string.
	Ints []int64
	// Codes are the values of a string as indexes of Dict; −1 where it is null.
	// The dictionary is that of the batch, may hold a string twice and strings
	// that are not in the batch. Nil for a number.
	Codes []int32
	Dict  []string
	// Valid tells, where a value is not null, apart what Ints cannot: a number
	// that is Null itself. Nil when no value of the batch is null.
	Valid []bool
	// Same tells that all values of the batch are equal, or all null. It may be
	// false where they are.
	Same bool

	dictInts []int64
	mask     []bool // memory of Valid
	ints     []int64
	codes    []int32
	text     int64 // bytes of the strings
}

// String returns value i of a string; "" where it is null.
func (v *Values) String(i int) string {
	if c := v.Codes[i]; c >= 0 {
		return v.Dict[c]
	}
	return ""
}

// Workspace is what readers can share that are read one at a time: a run of many
// actors has a reader for each. The zero value is ready.
type Workspace struct {
	zstd    *zstd.Decoder
	present []int32
	codes   []int32
}

// Share makes r use a workspace. Nothing of it is kept from one call of Next to the
// next.
func (r *PartReader) Share(w *Workspace) { r.Workspace = w }

// OpenPart opens a part to read the named columns, all of its table's when none
// is named. It reads the footer; the pages are read as Next comes to them. The
// caller closes obj.
func OpenPart(obj Object, columns ...string) (*PartReader, error) {
	r := new(PartReader)
	if err := r.Open(obj, columns...); err != nil {
		return nil, err
	}
	return r, nil
}

// Open is OpenPart with the memory of a reader that is done with another part.
func (r *PartReader) Open(obj Object, columns ...string) error {
	meta, data, err := readFooter(obj, r.unchecked)
	if err != nil {
		return err
	}
	part, err := identity(meta)
	if err != nil {
		return err
	}
	table := TableNamed(part.Table)
	if table == nil {
		return unsupported("a part of the table %q", part.Table)
	}
	if len(columns) == 0 {
		for _, c := range table.Columns {
			columns = append(columns, c.Name)
		}
	}
	leaves, err := findColumns(meta, table, columns)
	if err != nil {
		return err
	}
	if n := len(meta.RowGroups); n > MaxRowGroups {
		return unsupported("%d row groups, the limit is %d", n, MaxRowGroups)
	}
	rows := int64(0)
	for i := range meta.RowGroups {
		n := meta.RowGroups[i].NumRows
		if n < 0 || rows > math.MaxInt64-n {
			return damaged("row group %d has %d rows", i, n)
		}
		rows += n
	}
	if rows != meta.NumRows {
		return damaged("%d rows, its row groups have %d", meta.NumRows, rows)
	}
	if err := checkExtent(meta, data); err != nil {
		return err
	}
	if r.Workspace == nil {
		r.Workspace = new(Workspace)
	}
	r.obj, r.part, r.table, r.data, r.rows = obj, part, table, data, rows
	r.leaves = leaves
	r.place(meta)
	// Columns keep the memory of the part before, by position.
	for len(r.columns) < len(leaves) {
		r.columns = append(r.columns, Values{})
	}
	for len(r.chunks) < len(leaves) {
		r.chunks = append(r.chunks, chunk{})
	}
	r.columns, r.chunks = r.columns[:len(leaves)], r.chunks[:len(leaves)]
	for i, l := range leaves {
		r.columns[i].Column = l.column
	}
	r.next, r.left, r.batch, r.err = 0, 0, 0, nil
	return nil
}

// Part is the part's identity.
func (r *PartReader) Part() Part { return r.part }

// Table is the table that the part belongs to.
func (r *PartReader) Table() *Table { return r.table }

// Rows is the number of rows of the part.
func (r *PartReader) Rows() int64 { return r.rows }

// Len is the number of rows of the batch, at most MaxBatchRows.
func (r *PartReader) Len() int { return r.batch }

// Columns are the values of the batch, in the order in which the columns were
// named.
func (r *PartReader) Columns() []Values { return r.columns }

// Err is the error that ended Next, or nil at the part's end.
func (r *PartReader) Err() error { return r.err }

// Next reads the next batch, which is not empty. It returns false at the end of
// the part and on an error.
func (r *PartReader) Next() bool {
	r.batch = 0
	for r.err == nil && (r.left > 0 || r.next < len(r.groups)) {
		if r.left == 0 {
			g := r.next
			r.next++
			if r.groups[g] == 0 {
				continue
			}
			r.err = r.openGroup(g)
		}
		n := min(r.left, MaxBatchRows)
		if r.err == nil {
			r.err = r.readRows(n)
		}
		if r.err != nil {
			r.err = fmt.Errorf("row group %d: %w", r.next-1, r.err)
			return false
		}
		r.left -= n
		r.batch = n
		return true
	}
	return false
}

// openGroup reads a row group as it is stored.
func (r *PartReader) openGroup(g int) error {
	rows := r.groups[g]
	if rows > MaxRowGroupRows {
		return unsupported("%d rows, the limit is %d", rows, MaxRowGroupRows)
	}
	for i, l := range r.leaves {
		r.columns[i].forget()
		if l.index == absent {
			continue
		}
		at := &r.places[g*len(r.leaves)+i]
		if at.missing {
			return damaged("it lacks column %s", l.column.Name)
		}
		if err := r.chunks[i].open(r, l, at, rows); err != nil {
			return fmt.Errorf("column %s: %w", l.column.Name, err)
		}
	}
	r.left = rows
	return nil
}

// readRows decodes the next rows of the row group at hand.
func (r *PartReader) readRows(n int) error {
	for i, l := range r.leaves {
		if l.index == absent {
			r.columns[i].allNull(n)
			continue
		}
		if err := r.chunks[i].read(r, &r.columns[i], n); err != nil {
			return fmt.Errorf("column %s: %w", l.column.Name, err)
		}
	}
	return nil
}

// Watermark is the time (ns since the epoch) before which every row of the
// part's actor and table is in this part or an earlier one: without end in the
// last one.
func (p Part) Watermark() int64 {
	if p.Last {
		return math.MaxInt64
	}
	return p.WatermarkNs
}
