package framing

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"
)

// The bytes are those of Confluent's wire format: a zero, four bytes big endian,
// and for Protobuf a zigzag varint of the index's length and of each number, where
// one zero stands for the index 0.
func TestHeaderIsTheWireFormat(t *testing.T) {
	for want, f := range map[string]Frame{
		"\x00\x00\x00\x00\x07":                 {ID: 7, Type: sr.TypeJSON},
		"\x00\x7f\xff\xff\xff":                 {ID: math.MaxInt32, Type: sr.TypeAvro},
		"\x00\x00\x01\x00\x02\x00":             {ID: 65538, Type: sr.TypeProtobuf, Index: []int{0}},
		"\x00\x00\x00\x00\x01\x04\x02\x00":     {ID: 1, Type: sr.TypeProtobuf, Index: []int{1, 0}},
		"\x00\x00\x00\x00\x01\x02\x80\x02":     {ID: 1, Type: sr.TypeProtobuf, Index: []int{128}},
		"\x00\x00\x00\x00\x00\x06\x00\x00\x00": {ID: 0, Type: sr.TypeProtobuf, Index: []int{0, 0, 0}},
	} {
		if got := string(f.Header()); got != want {
			t.Errorf("%+v is %q, want %q", f, got, want)
		}
	}
}

func TestFramesRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	types := []sr.SchemaType{sr.TypeJSON, sr.TypeAvro, sr.TypeProtobuf}
	for range 2000 {
		f := Frame{ID: int(r.Int32()), Type: types[r.IntN(3)]}
		if f.Type == sr.TypeProtobuf {
			for range 1 + r.IntN(maxIndex) {
				f.Index = append(f.Index, int(r.Int32())>>r.IntN(31))
			}
		}
		if err := f.Check(); err != nil {
			t.Fatal(err)
		}
		body := make([]byte, r.IntN(20))
		for i := range body {
			body[i] = byte(r.Uint32())
		}
		payload := append(f.Header(), body...)
		if got, err := f.Strip(payload); err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%+v of %q comes back as %q, %v", f, body, got, err)
		}
		if got, err := StripAny(f.Type)(payload); err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%+v of %q comes back as %q, %v", f, body, got, err)
		}
		other := f
		other.ID ^= 1 << r.IntN(31)
		if _, err := other.Strip(payload); err == nil || !strings.Contains(err.Error(), "schema id") {
			t.Fatalf("schema %d was taken for %d: %v", f.ID, other.ID, err)
		}
		if text := FormatIndex(f.Index); text != "" {
			if index, err := ParseIndex(text); err != nil || !slices.Equal(index, f.Index) {
				t.Fatalf("%s comes back as %v, %v", text, index, err)
			}
		}
	}
}

func TestWhatIsNoFrameIsRefused(t *testing.T) {
	seven := Frame{ID: 7, Type: sr.TypeProtobuf, Index: []int{0}}
	for payload, says := range map[string]string{
		"":                                 "does not begin with",
		"\x00\x00\x00\x00":                 "does not begin with",
		"\x01\x00\x00\x00\x07\x00":         "does not begin with",
		"\x00\x80\x00\x00\x07\x00":         "does not begin with",
		`{"id":7}`:                         "does not begin with",
		"\x00\x00\x00\x00\x08\x00":         "schema id 8, not 7",
		"\x00\x00\x00\x00\x07":             "no message index",
		"\x00\x00\x00\x00\x07\x01":         "no message index", // a length of −1
		"\x00\x00\x00\x00\x07\xfe\xff\x03": "no message index", // one of 32767
		"\x00\x00\x00\x00\x07\x02\x01":     "no message index", // the number −1
		"\x00\x00\x00\x00\x07\x04\x00":     "no message index", // cut short
		"\x00\x00\x00\x00\x07\x02\x02":     "message index 1, not 0",
	} {
		if body, err := seven.Strip([]byte(payload)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q has the body %q, %v; want %q", payload, body, err, says)
		}
	}
	for says, f := range map[string]Frame{
		"between 0":            {ID: -1, Type: sr.TypeJSON},
		"only Protobuf":        {Type: sr.TypeAvro, Index: []int{0}},
		"has 0 numbers":        {Type: sr.TypeProtobuf},
		"has 17 numbers":       {Type: sr.TypeProtobuf, Index: make([]int, 17)},
		"message index -1":     {Type: sr.TypeProtobuf, Index: []int{-1}},
		"schema id 2147483648": {ID: 1 << 31, Type: sr.TypeJSON},
	} {
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", f, err, says)
		}
	}
	for _, text := range []string{"", "1,", "a", "1.5", "1;2"} {
		if index, err := ParseIndex(text); err == nil {
			t.Errorf("%q was taken for %v", text, index)
		}
	}
	for text, want := range map[string]sr.SchemaType{"json": sr.TypeJSON, "Avro": sr.TypeAvro, "PROTOBUF": sr.TypeProtobuf} {
		if got, err := ParseType(text); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	if _, err := ParseType("xml"); err == nil {
		t.Error("xml was taken")
	}
}

// What is read is what was there: the id is the one of the bytes, and what is left
// is the end of the payload.
func FuzzRead(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x07{}"), false)
	f.Add([]byte("\x00\x00\x00\x00\x07\x04\x02\x00x"), true)
	f.Add([]byte("\x00\x00\x00\x00\x07\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), true)
	f.Fuzz(func(t *testing.T, payload []byte, protobuf bool) {
		kind := sr.TypeJSON
		if protobuf {
			kind = sr.TypeProtobuf
		}
		frame, body, err := Read(payload, kind)
		if err != nil {
			return
		}
		if err := frame.Check(); err != nil {
			t.Fatal(err)
		}
		if uint32(frame.ID) != binary.BigEndian.Uint32(payload[1:]) || !bytes.HasSuffix(payload, body) {
			t.Errorf("%q is %+v with the body %q", payload, frame, body)
		}
		if got, err := frame.Strip(append(frame.Header(), body...)); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%+v with %q comes back as %q, %v", frame, body, got, err)
		}
	})
}
