package rawlog

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// Limits of what a reader takes; what lies beyond is refused, not cut. They
// bound its memory together with the size of the file.
const (
	// MaxRowGroupRows is the most rows of a row group; logwriter writes 65,536.
	MaxRowGroupRows = 1 << 17
	// MaxRowGroups is the most row groups of a part; logwriter writes some 16.
	MaxRowGroups = 1000
	// MaxBatchRows is the most rows of a batch: what of its columns a join
	// touches stays in a processor's cache.
	MaxBatchRows = 2048
	// MaxPageBytes is the most bytes of a page when decompressed; a column of
	// 65,536 numbers has half a megabyte.
	MaxPageBytes = 16 << 20
	// MaxColumnBytes is the most bytes of a column in a row group.
	MaxColumnBytes = 32 << 20
	// MaxFooterBytes is the most bytes of a footer; 16 row groups have 30 kB.
	MaxFooterBytes = 8 << 20
)

const magic = "PAR1"

// readFooter returns the file's metadata and the offset at which it begins.
func readFooter(obj Object, unchecked bool) (*format.FileMetaData, int64, error) {
	size := obj.Size()
	if size < int64(2*len(magic)+4) {
		return nil, 0, fmt.Errorf("%w: %d bytes are too few for a Parquet file", ErrNotAPart, size)
	}
	head, err := readRange(obj, nil, 0, int64(len(magic)))
	if err != nil {
		return nil, 0, err
	}
	if string(head) != magic {
		return nil, 0, fmt.Errorf("%w: no Parquet file (its first bytes are %q)", ErrNotAPart, head)
	}
	// Most footers come with the first read.
	tail, err := readRange(obj, nil, max(0, size-32<<10), min(size, 32<<10))
	if err != nil {
		return nil, 0, err
	}
	if string(tail[len(tail)-4:]) != magic {
		return nil, 0, damaged("the footer is missing: the file was cut off, or its writer was killed before it closed it")
	}
	n := int64(binary.LittleEndian.Uint32(tail[len(tail)-8:]))
	start := size - 8 - n
	if start < int64(len(magic)) {
		return nil, 0, damaged("a footer of %d bytes in a file of %d", n, size)
	}
	if n > MaxFooterBytes {
		return nil, 0, unsupported("a footer of %d bytes, the limit is %d", n, MaxFooterBytes)
	}
	var footer []byte
	if n+8 <= int64(len(tail)) {
		footer = tail[int64(len(tail))-8-n : len(tail)-8]
	} else if footer, err = readRange(obj, nil, start, n); err != nil {
		return nil, 0, err
	}
	meta := new(format.FileMetaData)
	if _, err := decodeThrift(footer, meta); err != nil {
		return nil, 0, err
	}
	if unchecked {
		return meta, start, nil
	}
	return meta, start, checkFooter(meta, footer)
}

// readRange reads n bytes at offset, which the caller has checked to lie in the
// object, into buf if they fit. An object that lies in memory is not copied.
func readRange(obj Object, buf []byte, offset, n int64) ([]byte, error) {
	if m, ok := obj.(interface{ Bytes() []byte }); ok {
		if b := m.Bytes(); offset+n <= int64(len(b)) {
			return b[offset : offset+n : offset+n], nil
		}
	}
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	got, err := obj.ReadAt(buf, offset)
	if int64(got) == n {
		return buf, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, fmt.Errorf("reading %d bytes at %d: %w", n, offset, err)
}

// identity reads who wrote the part from the file's metadata.
func identity(meta *format.FileMetaData) (Part, error) {
	var p Part
	for _, kv := range meta.KeyValueMetadata {
		if kv.Key != PartKey {
			continue
		}
		if err := json.Unmarshal([]byte(kv.Value), &p); err != nil {
			return p, fmt.Errorf("%w: the part's identity: %w", ErrDamaged, err)
		}
		return p, checkVersion(p.Schema)
	}
	return p, fmt.Errorf("%w: Parquet without %s in its metadata", ErrNotAPart, PartKey)
}

// leaf is a column of a table in a file.
type leaf struct {
	column   Column
	index    int // of the file's column chunks
	optional bool
}

// absent is the index of an optional column that the file has not: it is of a
// log that is older than the column, and all null.
const absent = -1

// findColumns finds the columns in the file's schema. Columns that the file has
// beyond the table's are ignored.
func findColumns(meta *format.FileMetaData, table *Table, names []string) ([]leaf, error) {
	elements := meta.Schema
	if len(elements) == 0 {
		return nil, damaged("the schema is empty")
	}
	found := make(map[string]leaf)
	next := 0 // index of the next column chunk
	for i := 1; i < len(elements); {
		e := &elements[i]
		if children := e.NumChildren; children.Valid && children.V > 0 {
			// A group is none of ours: skip it with all that is in it.
			for left := int64(1); left > 0; i++ {
				if i >= len(elements) {
					return nil, damaged("the schema is cut off")
				}
				left--
				if c := elements[i].NumChildren; c.Valid && c.V > 0 {
					left += int64(c.V)
				} else {
					next++
				}
			}
			continue
		}
		c := table.Column(e.Name)
		if c >= 0 {
			if err := checkType(e, table, table.Columns[c]); err != nil {
				return nil, err
			}
			if _, twice := found[e.Name]; twice {
				return nil, schemaError("table %s has two columns %s", table.Name, e.Name)
			}
			found[e.Name] = leaf{table.Columns[c], next, e.RepetitionType.V == format.Optional}
		}
		next++
		i++
	}
	leaves := make([]leaf, len(names))
	for i, name := range names {
		l, ok := found[name]
		if i := table.Column(name); !ok && i >= 0 && table.Columns[i].Optional {
			l, ok = leaf{table.Columns[i], absent, true}, true
		}
		if !ok {
			return nil, schemaError("table %s has no column %s", table.Name, name)
		}
		leaves[i] = l
	}
	return leaves, nil
}

// checkType compares a column of the file with that of the table.
func checkType(e *format.SchemaElement, table *Table, c Column) error {
	want, annotated := format.Int64, true
	switch c.Type {
	case Int64, Int32:
		bits := int8(64)
		converted := deprecated.Int64
		if c.Type == Int32 {
			want, bits, converted = format.Int32, 32, deprecated.Int32
		}
		t, isInt := e.LogicalType.Value.(*format.IntType)
		annotated = e.LogicalType.Value == nil && (!e.ConvertedType.Valid || e.ConvertedType.V == converted) ||
			isInt && t.IsSigned && t.BitWidth == bits
	case String:
		want = format.ByteArray
		_, isString := e.LogicalType.Value.(*format.StringType)
		annotated = isString || e.LogicalType.Value == nil && (!e.ConvertedType.Valid || e.ConvertedType.V == deprecated.UTF8)
	}
	if !e.Type.Valid || e.Type.V != want || !annotated {
		return schemaError("table %s, column %s: its type is %s, expected %v", table.Name, c.Name, typeName(e), want)
	}
	if e.RepetitionType.Valid && e.RepetitionType.V != format.Required && e.RepetitionType.V != format.Optional {
		return schemaError("table %s, column %s: it is repeated", table.Name, c.Name)
	}
	return nil
}

func typeName(e *format.SchemaElement) string {
	switch {
	case !e.Type.Valid:
		return "missing"
	case e.LogicalType.Value != nil:
		return e.Type.V.String() + " " + e.LogicalType.String()
	case e.ConvertedType.Valid:
		return fmt.Sprintf("%v (converted type %d)", e.Type.V, e.ConvertedType.V)
	}
	return e.Type.V.String()
}
