package logwriter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"queuebench/rawlog"
)

// createdBy has the form that readers parse, some of which know writers by
// their mistakes.
const createdBy = "queuebench version 1"

// pageIndex is what the file's page index says of a data page.
type pageIndex struct {
	offset   int64
	size     int32 // with its header
	nulls    int64
	null     bool // nothing else
	min, max []byte
}

// finish writes the page index and the footer, with the part's identity.
func (w *partWriter) finish(identity string) error {
	for g, pages := range w.pages {
		for c := range pages {
			p, column := &pages[c], &w.groups[g].Columns[c]
			column.ColumnIndexOffset = w.position()
			err := w.encode(&format.ColumnIndex{
				NullPages: []bool{p.null}, NullCounts: []int64{p.nulls},
				MinValues: [][]byte{p.min}, MaxValues: [][]byte{p.max},
			})
			if err != nil {
				return err
			}
			column.ColumnIndexLength = int32(w.position() - column.ColumnIndexOffset)
		}
	}
	for g, pages := range w.pages {
		for c := range pages {
			p, column := &pages[c], &w.groups[g].Columns[c]
			column.OffsetIndexOffset = w.position()
			err := w.encode(&format.OffsetIndex{PageLocations: []format.PageLocation{{Offset: p.offset, CompressedPageSize: p.size}}})
			if err != nil {
				return err
			}
			column.OffsetIndexLength = int32(w.position() - column.OffsetIndexOffset)
		}
	}
	start := w.position()
	meta := format.FileMetaData{
		Version: 2, Schema: schemaOf(w.table), NumRows: w.rows, RowGroups: w.groups, CreatedBy: createdBy,
		KeyValueMetadata: []format.KeyValue{{Key: rawlog.PartKey, Value: identity}, {Key: rawlog.FooterKey, Value: rawlog.FooterNone}},
	}
	for range w.table.Columns {
		meta.ColumnOrders = append(meta.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
	if err := w.encode(&meta); err != nil {
		return err
	}
	if err := sum(w.buf[start-w.offset:]); err != nil {
		return err
	}
	w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(w.position()-start))
	w.buf = append(w.buf, magic...)
	return w.flush()
}

// sum puts the footer's checksum into the footer.
func sum(footer []byte) error {
	at := rawlog.FooterSum(footer)
	if at < 0 {
		return errors.New("the footer has no room for its checksum")
	}
	copy(footer[at:], fmt.Sprintf("%08x", crc32.ChecksumIEEE(footer)))
	return nil
}

// schemaOf is the Parquet schema of a table, its columns in their order.
func schemaOf(t *rawlog.Table) []format.SchemaElement {
	elements := []format.SchemaElement{{Name: t.Name, NumChildren: thrift.New(int32(len(t.Columns)))}}
	for _, c := range t.Columns {
		e := format.SchemaElement{Name: c.Name, Type: thrift.New(physicalType(c.Type)), RepetitionType: thrift.New(format.Required)}
		if c.Optional {
			e.RepetitionType = thrift.New(format.Optional)
		}
		// The older annotation stands beside the newer one, for older readers.
		switch c.Type {
		case rawlog.Int64:
			e.ConvertedType = thrift.New(deprecated.Int64)
			e.LogicalType.Value = &format.IntType{BitWidth: 64, IsSigned: true}
		case rawlog.Int32:
			e.ConvertedType = thrift.New(deprecated.Int32)
			e.LogicalType.Value = &format.IntType{BitWidth: 32, IsSigned: true}
		case rawlog.String:
			e.ConvertedType = thrift.New(deprecated.UTF8)
			e.LogicalType.Value = &format.StringType{}
		}
		elements = append(elements, e)
	}
	return elements
}

func physicalType(t rawlog.Type) format.Type {
	switch t {
	case rawlog.Int64:
		return format.Int64
	case rawlog.Int32:
		return format.Int32
	}
	return format.ByteArray
}
