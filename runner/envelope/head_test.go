package envelope

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// A head encodes what Encode does, byte by byte, and takes nothing that Decode
// does not take for its own.
func TestHeadIsEncodeAndDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 20_000 {
		id := ID{Kind: Kind(r.IntN(int(numKinds))), Producer: uint16(r.Uint32()), Tag: r.Uint32(), Seq: r.Int64N(MaxSeq+1) >> r.IntN(48)}
		h := NewHead(id.Kind, id.Producer, id.Tag)
		a, b := make([]byte, Size+r.IntN(3)), make([]byte, Size)
		Encode(b, id)
		if h.Encode(a, id.Seq); !bytes.Equal(a[:Size], b) {
			t.Fatalf("%+v: %x, want %x", id, a[:Size], b)
		}
		a[r.IntN(Size)] ^= byte(r.IntN(3)) << r.IntN(8) // a third stays whole
		got, err := Decode(a)
		seq, ok := h.Seq(a)
		if want := err == nil && got.Kind == id.Kind && got.Producer == id.Producer && got.Tag == id.Tag; ok != want || ok && seq != got.Seq {
			t.Fatalf("%x: seq %d, %v; Decode says %+v, %v", a, seq, ok, got, err)
		}
	}
	h := NewHead(Data, 1, 2)
	if _, ok := h.Seq(make([]byte, Size-1)); ok {
		t.Error("a payload that is too short is taken")
	}
}

func BenchmarkHead(b *testing.B) {
	h := NewHead(Data, 1, 2)
	p := make([]byte, 100)
	for i := range b.N {
		h.Encode(p, int64(i))
		if seq, ok := h.Seq(p); !ok || seq != int64(i) {
			b.Fatal(seq)
		}
	}
}
