// Package thriftwalk follows a structure of Thrift's compact protocol, such as
// the footer of a Parquet file, and builds nothing.
//
// The decoder of parquet-go allocates a list as long as its header claims
// before it reads the first element, and skips nested structures by recursion.
// A damaged or hostile file must not take the process with it, so a structure
// is walked first: each length is checked against the bytes that are there.
//
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
package thriftwalk

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// maxDepth is how deep structures may lie in each other. Parquet's own lie four
// deep.
const maxDepth = 16

type walk struct {
	b    []byte
	pos  int
	left int // elements of lists, sets and maps that may still come
}

// Structure returns the length of the structure at the start of b. Lists, sets
// and maps in it have at most maxElements elements together.
func Structure(b []byte, maxElements int) (int, error) {
	w := walk{b: b, left: maxElements}
	if err := w.structure(0); err != nil {
		return 0, err
	}
	return w.pos, nil
}

func (w *walk) byte() (byte, error) {
	if w.pos >= len(w.b) {
		return 0, errors.New("metadata is cut off")
	}
	w.pos++
	return w.b[w.pos-1], nil
}

func (w *walk) uvarint() (uint64, error) {
	v, n := binary.Uvarint(w.b[w.pos:])
	if n <= 0 {
		return 0, errors.New("metadata has a number that is cut off or too long")
	}
	w.pos += n
	return v, nil
}

func (w *walk) skip(n uint64) error {
	if n > uint64(len(w.b)-w.pos) {
		return errors.New("metadata has a length beyond its end")
	}
	w.pos += int(n)
	return nil
}

func (w *walk) structure(depth int) error {
	if depth > maxDepth {
		return errors.New("metadata is nested too deeply")
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

func (w *walk) value(typ thrift.Type, depth int) error {
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
	return fmt.Errorf("metadata has a field of unknown type %d", typ)
}

func (w *walk) list(depth int) error {
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

func (w *walk) pairs(depth int) error {
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

func (w *walk) count(n uint64) error {
	if n > uint64(len(w.b)-w.pos) || n > uint64(w.left) {
		return fmt.Errorf("metadata has a list of %d elements", n)
	}
	w.left -= int(n)
	return nil
}
