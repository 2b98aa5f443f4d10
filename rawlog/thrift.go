package rawlog

import (
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"

	"queuebench/internal/thriftwalk"
)

// A footer of ours has some six elements per column and row group.
const maxThriftElements = 1 << 16

// decodeThrift decodes the structure at the start of b into v and returns its
// length. Strings and bytes of v point into b.
func decodeThrift(b []byte, v any) (n int, err error) {
	n, err = thriftwalk.Structure(b, maxThriftElements)
	if err != nil {
		return 0, damaged("metadata: %v", err)
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
