package thriftwalk

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

func footer(t testing.TB) []byte {
	t.Helper()
	b, err := thrift.Marshal(new(thrift.CompactProtocol), &format.FileMetaData{
		Version: 1, NumRows: 7, Schema: []format.SchemaElement{{Name: "schema"}, {Name: "a"}, {Name: "b"}},
		KeyValueMetadata: []format.KeyValue{{Key: "k", Value: "v"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLengthIsThatOfTheStructure(t *testing.T) {
	b := footer(t)
	n, err := Structure(append(bytes.Clone(b), 1, 2, 3), 100)
	if err != nil || n != len(b) {
		t.Errorf("length %d, %v; want %d", n, err, len(b))
	}
}

func TestClaimsAreChecked(t *testing.T) {
	b := footer(t)
	for cut := range b {
		if _, err := Structure(b[:cut], 100); err == nil {
			t.Errorf("cut to %d of %d bytes it passes", cut, len(b))
		}
	}
	if _, err := Structure(b, 3); err == nil || !strings.Contains(err.Error(), "elements") {
		t.Errorf("four elements where three are allowed: %v", err)
	}
	// Field 1, a list of 2^62 numbers, of which none is there.
	long := []byte{0x19, 0xF6, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40}
	if _, err := Structure(long, 1<<30); err == nil {
		t.Error("a list of 2^62 elements passes")
	}
	// A structure in a structure in a structure …
	if _, err := Structure(bytes.Repeat([]byte{0x1C}, 1000), 1<<30); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Errorf("a thousand nested structures: %v", err)
	}
}

func FuzzStructure(f *testing.F) {
	f.Add(footer(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := Structure(b, 1000); err == nil && (n < 1 || n > len(b)) {
			t.Errorf("length %d of %d bytes", n, len(b))
		}
	})
}
