// Package parquetfile reads named columns of any Parquet file into the table of
// package importer, row group by row group.
//
// It stands apart from importer since it links parquet-go's root package, which
// a page in a browser cannot afford. It refuses nested and repeated columns.
// What the file claims is checked before the decoders of parquet-go see it: they
// allocate what they are told to.
package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"queuebench/analysis"
	"queuebench/importer"
)

// Read reads a file of a size. Numbers have the unit of their column, or that of
// their Parquet type TIMESTAMP.
func Read(name string, r io.ReaderAt, size int64, columns []importer.Column) (d *analysis.Digest, err error) {
	fail := func(err error) (*analysis.Digest, error) {
		return nil, fmt.Errorf("%s: Parquet: %w", name, err)
	}
	defer func() {
		// parquet-go answers some corrupt files with a panic.
		if p := recover(); p != nil {
			d, err = fail(fmt.Errorf("%w: %v", errDamaged, p))
		}
	}()
	if err := checkFooter(r, size); err != nil {
		return fail(err)
	}
	f, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fail(fmt.Errorf("%w: %w", errDamaged, err))
	}
	t := importer.NewTable(name, columns)
	leaves, err := findLeaves(f, columns)
	if err != nil {
		return fail(err)
	}
	meta := f.Metadata()
	for i, group := range f.RowGroups() {
		if i >= len(meta.RowGroups) {
			return fail(errDamaged)
		}
		if err := readGroup(r, size, group, &meta.RowGroups[i], leaves, t); err != nil {
			return fail(fmt.Errorf("row group %d: %w", i, err))
		}
	}
	return t.Digest()
}

// leaf is a column that is read.
type leaf struct {
	importer.Column
	index int // of the chunk in a row group
	kind  parquet.Kind
}

func findLeaves(f *parquet.File, columns []importer.Column) ([]leaf, error) {
	var out []leaf
	for _, c := range columns {
		found, ok := f.Schema().Lookup(c.Name)
		if !ok {
			var names []string
			for _, path := range f.Schema().Columns() {
				names = append(names, strings.Join(path, "."))
			}
			return nil, fmt.Errorf("there is no column %q; there are %.300s", c.Name, strings.Join(names, ", "))
		}
		l := leaf{Column: c, index: found.ColumnIndex, kind: found.Node.Type().Kind()}
		if found.Node.Repeated() {
			return nil, fmt.Errorf("column %s is repeated", c.Name)
		}
		isText := l.kind == parquet.ByteArray
		if c.Role == importer.Series {
			if !isText {
				return nil, fmt.Errorf("column %s is %v: a series is named by a text", c.Name, l.kind)
			}
			out = append(out, l)
			continue
		}
		if t := found.Node.Type().LogicalType(); t != nil {
			if s, ok := t.Value.(*format.TimestampType); ok {
				l.Unit = unitOf(s.Unit)
			}
		}
		switch {
		case !slices.Contains([]parquet.Kind{parquet.Int32, parquet.Int64, parquet.Double, parquet.Float}, l.kind):
			return nil, fmt.Errorf("column %s is %v: a time or a latency is a number or a TIMESTAMP", c.Name, l.kind)
		case l.Unit == 0:
			return nil, fmt.Errorf("column %s has no unit: say it behind its name, such as %s=%s:ms", c.Name, c.Role, c.Name)
		}
		out = append(out, l)
	}
	return out, nil
}

func unitOf(u format.TimeUnit) time.Duration {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return time.Millisecond
	case *format.MicroSeconds:
		return time.Microsecond
	}
	return time.Nanosecond
}

// cell turns a value to one of a table.
func (l leaf) cell(v parquet.Value) (importer.Cell, error) {
	if v.IsNull() {
		return importer.Cell{Null: true}, nil
	}
	var f float64
	switch l.kind {
	case parquet.ByteArray:
		return importer.Cell{Text: string(v.ByteArray())}, nil
	case parquet.Int32:
		return importer.Cell{Ns: int64(v.Int32()) * int64(l.Unit)}, nil
	case parquet.Int64:
		n := v.Int64()
		if n > math.MaxInt64/int64(l.Unit) || n < math.MinInt64/int64(l.Unit) {
			return importer.Cell{}, fmt.Errorf("column %s: %d is beyond the range of times: is its unit another one?", l.Name, n)
		}
		return importer.Cell{Ns: n * int64(l.Unit)}, nil
	case parquet.Float:
		f = float64(v.Float())
	default:
		f = v.Double()
	}
	if math.IsNaN(f) {
		return importer.Cell{Null: true}, nil
	}
	ns := math.Round(f * float64(l.Unit))
	if math.Abs(ns) > math.MaxInt64/2 {
		return importer.Cell{}, fmt.Errorf("column %s: %g is beyond the range of times", l.Name, f)
	}
	return importer.Cell{Ns: int64(ns)}, nil
}

// readGroup hands the rows of a group to the table, a few at a time.
func readGroup(r io.ReaderAt, size int64, group parquet.RowGroup, meta *format.RowGroup, leaves []leaf, t *importer.Table) error {
	chunks := group.ColumnChunks()
	readers := make([]*values, len(leaves))
	for i, l := range leaves {
		if l.index >= len(chunks) || l.index >= len(meta.Columns) {
			return fmt.Errorf("%w: it lacks column %s", errDamaged, l.Name)
		}
		if err := checkPages(r, size, &meta.Columns[l.index].MetaData); err != nil {
			return fmt.Errorf("column %s: %w", l.Name, err)
		}
		readers[i] = &values{pages: chunks[l.index].Pages()}
		defer readers[i].close()
	}
	cells := make([]importer.Cell, len(leaves))
	for row := int64(0); ; row++ {
		ended := 0
		for i, l := range leaves {
			v, err := readers[i].next()
			if errors.Is(err, io.EOF) {
				ended++
				continue
			}
			if err == nil {
				cells[i], err = l.cell(v)
			}
			if err != nil {
				return fmt.Errorf("row %d: %w", row, err)
			}
		}
		if ended == len(leaves) {
			return nil
		}
		if ended > 0 {
			return fmt.Errorf("%w: its columns have different numbers of rows", errDamaged)
		}
		if err := t.Add(cells); err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
	}
}

// values reads a column value by value.
type values struct {
	pages parquet.Pages
	page  parquet.Page
	from  parquet.ValueReader
	buf   [512]parquet.Value
	at, n int
}

func (v *values) next() (parquet.Value, error) {
	for v.at == v.n {
		if v.from != nil {
			n, err := v.from.ReadValues(v.buf[:])
			v.at, v.n = 0, n
			if n > 0 {
				continue
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return parquet.Value{}, err
			}
			parquet.Release(v.page)
			v.page, v.from = nil, nil
		}
		page, err := v.pages.ReadPage()
		if err != nil {
			return parquet.Value{}, err
		}
		v.page, v.from = page, page.Values()
	}
	v.at++
	return v.buf[v.at-1], nil
}

func (v *values) close() {
	if v.page != nil {
		parquet.Release(v.page)
	}
	v.pages.Close()
}
