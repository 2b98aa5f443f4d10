package parquettest

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// unsummed leaves out what says what a footer's bytes add up to: that of another
// one.
func unsummed(meta *format.FileMetaData) {
	meta.KeyValueMetadata = slices.DeleteFunc(meta.KeyValueMetadata, func(kv format.KeyValue) bool { return strings.Contains(kv.Key, "footer") })
}

// WithFooter is a Parquet file with the pages of body and a footer that was
// changed and has no checksum.
func WithFooter(t testing.TB, body []byte, change func(*format.FileMetaData)) []byte {
	t.Helper()
	length := int(binary.LittleEndian.Uint32(body[len(body)-8:]))
	meta := new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), body[len(body)-8-length:len(body)-8], meta); err != nil {
		t.Fatal(err)
	}
	unsummed(meta)
	change(meta)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
	if err != nil {
		t.Fatal(err)
	}
	out := append(body[:len(body)-8-length:len(body)-8-length], footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}
