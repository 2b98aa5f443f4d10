package rawlog

import (
	"encoding/binary"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// The thrift decoder allocates a list as long as its header claims before it
// reads the first element, and skips nested structures by recursion. So a
// structure is walked first: walkThrift follows the compact protocol, checks
// every length against the bytes that are there, and counts.
//
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md

const (
	maxThriftDepth = 16
	// A footer of ours has some six elements per column and row group.
	maxThriftElements = 1 << 16
)

type thriftWalk struct {
	b        []byte
	pos      int
	elements int // of lists, sets and maps so far
}

// walkThrift returns the length of the structure at the start of b.
func walkThrift(b []byte) (int, error) {
	w := thriftWalk{b: b}
	if err := w.structure(0); err != nil {
		return 0, err
	}
	return w.pos, nil
}

func (w *thriftWalk) byte() (byte, error) {
	if w.pos >= len(w.b) {
		return 0, damaged("metadata is cut off")
	}
	w.pos++
	return w.b[w.pos-1], nil
}

func (w *thriftWalk) uvarint() (uint64, error) {
	v, n := binary.Uvarint(w.b[w.pos:])
	if n <= 0 {
		return 0, damaged("metadata has a number that is cut off or too long")
	}
	w.pos += n
	return v, nil
}

func (w *thriftWalk) skip(n uint64) error {
	if n > uint64(len(w.b)-w.pos) {
		return damaged("metadata has a length beyond its end")
	}
	w.pos += int(n)
	return nil
}

func (w *thriftWalk) structure(depth int) error {
	if depth > maxThriftDepth {
		return damaged("metadata is nested too deeply")
	}
	for {
		field, err := w.byte()
		if err != nil {
			return err
		}
		if field == byte(thrift.STOP) {
			return nil
		}
		if field>>4 == 0 { // the field's number follows
			if _, err := w.uvarint(); err != nil {
				return err
			}
		}
		typ := thrift.Type(field & 0xF)
		if typ == thrift.TRUE || typ == thrift.FALSE {
			continue // a field's boolean is its type
		}
		if err := w.value(typ, depth); err != nil {
			return err
		}
	}
}

func (w *thriftWalk) value(typ thrift.Type, depth int) error {
	switch typ {
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
		return w.list(depth)
	case thrift.MAP:
		return w.pairs(depth)
	case thrift.STRUCT:
		return w.structure(depth + 1)
	}
	return damaged("metadata has a field of unknown type %d", typ)
}

func (w *thriftWalk) list(depth int) error {
	head, err := w.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = w.uvarint(); err != nil {
			return err
		}
	}
	if err := w.count(n); err != nil {
		return err
	}
	for range n {
		if err := w.value(thrift.Type(head&0xF), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *thriftWalk) pairs(depth int) error {
	n, err := w.uvarint()
	if err != nil || n == 0 {
		return err
	}
	types, err := w.byte()
	if err != nil {
		return err
	}
	if err := w.count(n); err != nil {
		return err
	}
	for range n {
		if err := w.value(thrift.Type(types>>4), depth+1); err != nil {
			return err
		}
		if err := w.value(thrift.Type(types&0xF), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *thriftWalk) count(n uint64) error {
	if n > uint64(len(w.b)-w.pos) || n > uint64(maxThriftElements-w.elements) {
		return damaged("metadata has a list of %d elements", n)
	}
	w.elements += int(n)
	return nil
}

// decodeThrift decodes the structure at the start of b into v and returns its
// length. Strings and bytes of v point into b.
func decodeThrift(b []byte, v any) (n int, err error) {
	n, err = walkThrift(b)
	if err != nil {
		return 0, err
	}
	// The decoder works by reflection on input that may be made to deceive;
	// a panic of it must stay an error of the file.
	defer func() {
		if p := recover(); p != nil {
			err = damaged("metadata: %v", p)
		}
	}()
	protocol := new(thrift.CompactProtocol)
	r := protocol.NewReaderFromBytes(b[:n])
	if err := thrift.NewDecoder(r).Decode(v); err != nil {
		return 0, fmt.Errorf("%w: metadata: %w", ErrDamaged, err)
	}
	return n, nil
}
