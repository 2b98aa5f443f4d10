package deltalake

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The decoders of parquet-go allocate what a file claims to hold before they
// look for it: a list as long as its header says, a page as large as its header
// says. A damaged file must not take the process with it, so the claims are
// checked before the decoders see them.
//
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md

const (
	maxThriftDepth    = 16
	maxThriftElements = 1 << 18
	// maxPageBytes and maxFileRows bound what one data file makes a reader
	// allocate. Beyond them it is refused, not cut.
	maxPageBytes = 1 << 28
	maxFileRows  = 1 << 24
)

var errClaims = errors.New("it claims more than it holds, or than a reader takes")

// checkFooter follows the footer of a file and checks each length in it.
func checkFooter(body []byte) error {
	if len(body) < 12 || string(body[len(body)-4:]) != "PAR1" {
		return errors.New("it does not end as a Parquet file does")
	}
	size := int64(binary.LittleEndian.Uint32(body[len(body)-8:]))
	if size > int64(len(body)-12) {
		return errClaims
	}
	footer := body[int64(len(body))-8-size : len(body)-8]
	w := thriftWalk{b: footer, elements: maxThriftElements}
	return w.structure(0)
}

// checkPages follows the page headers of a chunk and checks what they claim.
func checkPages(body []byte, md *format.ColumnMetaData) error {
	begin := md.DataPageOffset
	if o := md.DictionaryPageOffset; o > 0 && o < begin {
		begin = o
	}
	if begin < 4 || begin > int64(len(body)) || md.TotalCompressedSize < 0 || md.TotalCompressedSize > int64(len(body))-begin || md.NumValues < 0 || md.NumValues > maxFileRows {
		return errClaims
	}
	rest := body[begin:][:md.TotalCompressedSize]
	reader := new(thrift.CompactProtocol).NewReaderFromBytes(nil)
	decoder := thrift.NewDecoder(reader)
	left := md.NumValues
	for len(rest) > 0 && left > 0 {
		w := thriftWalk{b: rest, elements: maxThriftElements}
		if err := w.structure(0); err != nil {
			return err
		}
		var h format.PageHeader
		reader.ResetBytes(rest[:w.pos])
		if err := decoder.Decode(&h); err != nil {
			return err
		}
		rest = rest[w.pos:]
		var n int32
		switch {
		case h.DataPageHeader.Valid:
			n = h.DataPageHeader.V.NumValues
		case h.DataPageHeaderV2.Valid:
			n = h.DataPageHeaderV2.V.NumValues
			levels := int64(h.DataPageHeaderV2.V.DefinitionLevelsByteLength) + int64(h.DataPageHeaderV2.V.RepetitionLevelsByteLength)
			if levels < 0 || levels > int64(h.CompressedPageSize) {
				return errClaims
			}
		case h.DictionaryPageHeader.Valid:
			if d := h.DictionaryPageHeader.V.NumValues; d < 0 || d > maxFileRows {
				return errClaims
			}
		}
		if n < 0 || int64(n) > left || h.CompressedPageSize < 0 || int(h.CompressedPageSize) > len(rest) || h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPageBytes {
			return errClaims
		}
		rest = rest[h.CompressedPageSize:]
		left -= int64(n)
	}
	return nil
}

// thriftWalk follows a structure of the compact protocol and builds nothing.
type thriftWalk struct {
	b        []byte
	pos      int
	elements int // of lists and maps that may still come
}

func (w *thriftWalk) byte() (byte, error) {
	if w.pos >= len(w.b) {
		return 0, errClaims
	}
	w.pos++
	return w.b[w.pos-1], nil
}

func (w *thriftWalk) uvarint() (uint64, error) {
	v, n := binary.Uvarint(w.b[w.pos:])
	if n <= 0 {
		return 0, errClaims
	}
	w.pos += n
	return v, nil
}

func (w *thriftWalk) skip(n uint64) error {
	if n > uint64(len(w.b)-w.pos) {
		return errClaims
	}
	w.pos += int(n)
	return nil
}

func (w *thriftWalk) structure(depth int) error {
	if depth > maxThriftDepth {
		return errClaims
	}
	for {
		head, err := w.byte()
		if err != nil || head == byte(thrift.STOP) {
			return err
		}
		if head>>4 == 0 { // the field's number follows
			if _, err := w.uvarint(); err != nil {
				return err
			}
		}
		if t := thrift.Type(head & 0xf); t != thrift.TRUE && t != thrift.FALSE { // those are their own value
			if err := w.value(t, depth); err != nil {
				return err
			}
		}
	}
}

func (w *thriftWalk) value(t thrift.Type, depth int) error {
	switch t {
	case thrift.TRUE, thrift.FALSE, thrift.I8:
		return w.skip(1)
	case thrift.I16, thrift.I32, thrift.I64:
		_, err := w.uvarint()
		return err
	case thrift.DOUBLE:
		return w.skip(8)
	case thrift.BINARY:
		n, err := w.uvarint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thrift.LIST, thrift.SET:
		head, err := w.byte()
		n := uint64(head >> 4)
		if err == nil && n == 15 {
			n, err = w.uvarint()
		}
		if err != nil {
			return err
		}
		return w.repeat(n, depth, thrift.Type(head&0xf))
	case thrift.MAP:
		n, err := w.uvarint()
		if err != nil || n == 0 {
			return err
		}
		types, err := w.byte()
		if err != nil {
			return err
		}
		return w.repeat(n, depth, thrift.Type(types>>4), thrift.Type(types&0xf))
	case thrift.STRUCT:
		return w.structure(depth + 1)
	}
	return fmt.Errorf("metadata has a field of the unknown type %d", t)
}

func (w *thriftWalk) repeat(n uint64, depth int, types ...thrift.Type) error {
	if n > uint64(len(w.b)-w.pos) || n > uint64(w.elements) {
		return errClaims
	}
	w.elements -= int(n)
	for range n {
		for _, t := range types {
			if err := w.value(t, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
