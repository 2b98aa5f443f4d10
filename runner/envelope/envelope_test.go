package envelope

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(id ID) {
		t.Helper()
		b := make([]byte, Size+r.IntN(50))
		Encode(b, id)
		got, err := Decode(b)
		if err != nil || got != id {
			t.Errorf("%+v came back as %+v, %v", id, got, err)
		}
	}
	check(ID{})
	check(ID{Kind: End, Producer: MaxProducer, Tag: 1<<32 - 1, Seq: MaxSeq})
	for range 10000 {
		check(ID{Kind: Kind(r.IntN(int(numKinds))), Producer: uint16(r.Uint32()), Tag: r.Uint32(), Seq: r.Int64N(MaxSeq + 1)})
	}
}

func TestForeignIsToldFromCorrupt(t *testing.T) {
	good := make([]byte, 20)
	Encode(good, ID{Producer: 3, Tag: 7, Seq: 99})
	for _, c := range []struct {
		name   string
		change func([]byte) []byte
		want   error
	}{
		{"untouched", func(b []byte) []byte { return b }, nil},
		{"bytes behind the identity changed", func(b []byte) []byte { b[17] ^= 1; return b }, nil},
		{"empty", func([]byte) []byte { return nil }, ErrForeign},
		{"too short", func(b []byte) []byte { return b[:15] }, ErrForeign},
		{"text", func([]byte) []byte { return []byte("a line of somebody else's file") }, ErrForeign},
		{"another version", func(b []byte) []byte { b[1] = 2 << 4; return b }, ErrForeign},
		{"an unknown kind", func(b []byte) []byte { b[1] |= 15; return b }, ErrForeign},
		{"seq damaged", func(b []byte) []byte { b[12] ^= 4; return b }, ErrCorrupt},
		{"check damaged", func(b []byte) []byte { b[15] ^= 4; return b }, ErrCorrupt},
	} {
		if _, err := Decode(c.change(bytes.Clone(good))); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestEachSingleBitErrorIsFound(t *testing.T) {
	b := make([]byte, Size)
	Encode(b, ID{Kind: Data, Producer: 513, Tag: 0xDEADBEEF, Seq: 123456789})
	for bit := range Size * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		if id, err := Decode(b); err == nil {
			t.Errorf("bit %d flipped: decoded as %+v", bit, id)
		}
		b[bit/8] ^= 1 << (bit % 8)
	}
}

func FuzzDecode(f *testing.F) {
	b := make([]byte, 24)
	Encode(b, ID{Kind: End, Producer: 1, Tag: 2, Seq: 3})
	f.Add(b)
	f.Add([]byte{})
	f.Add([]byte{magic})
	f.Add(bytes.Repeat([]byte{magic, 0x10}, 8))
	f.Fuzz(func(t *testing.T, p []byte) {
		id, err := Decode(p)
		if err != nil {
			return
		}
		again := make([]byte, Size)
		Encode(again, id)
		if !bytes.Equal(again, p[:Size]) {
			t.Errorf("%x decodes to %+v, which encodes to %x", p[:Size], id, again)
		}
	})
}

func TestCheckSize(t *testing.T) {
	if CheckSize(15) == nil || CheckSize(16) != nil {
		t.Error("16 bytes are enough and 15 are not")
	}
}

func BenchmarkEncode(b *testing.B) {
	p := make([]byte, 100)
	for i := range b.N {
		Encode(p, ID{Producer: 1, Tag: 2, Seq: int64(i)})
	}
}

func BenchmarkDecode(b *testing.B) {
	p := make([]byte, 100)
	Encode(p, ID{Producer: 1, Tag: 2, Seq: 3})
	for range b.N {
		if _, err := Decode(p); err != nil {
			b.Fatal(err)
		}
	}
}
