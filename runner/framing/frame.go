// Package framing is the header that Confluent's serializers put before the body
// of a message, and the registry of schemas that its number is from.
//
// The wire format is a byte 0, the schema's id as four bytes, big endian, and for
// Protobuf the path of the message within its file. The package refuses to encode
// a body by its schema, or to decode one: it frames bytes, whatever they are.
package framing

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/sr"
)

// ErrUnframed is of a payload that does not begin with a frame.
var ErrUnframed = errors.New("it does not begin with a byte 0 and the four bytes of a schema's id")

// maxIndex bounds the path of a Protobuf message: types nest a few deep.
const maxIndex = 16

// Frame is the header of the messages of one schema.
type Frame struct {
	ID   int // of the schema, 0 to 2³¹−1
	Type sr.SchemaType
	// Index is the path of the Protobuf message within its file, from the
	// outermost in: 0 is the first. nil for the other types.
	Index []int
}

// Check refuses what cannot be encoded.
func (f Frame) Check() error {
	switch {
	case f.ID < 0 || f.ID > math.MaxInt32:
		return fmt.Errorf("the schema id %d is not between 0 and %d", f.ID, math.MaxInt32)
	case f.Type != sr.TypeProtobuf && len(f.Index) > 0:
		return fmt.Errorf("a schema of type %v has no message index: only Protobuf has", f.Type)
	case f.Type == sr.TypeProtobuf && (len(f.Index) == 0 || len(f.Index) > maxIndex):
		return fmt.Errorf("the message index has %d numbers: a Protobuf message has 1 to %d, 0 for the first of its file", len(f.Index), maxIndex)
	}
	for _, i := range f.Index {
		if i < 0 || i > math.MaxInt32 {
			return fmt.Errorf("the message index %d is not between 0 and %d", i, math.MaxInt32)
		}
	}
	return nil
}

// Header is the frame as bytes. The frame has been checked.
func (f Frame) Header() []byte {
	var h sr.ConfluentHeader
	b, err := h.AppendEncode(nil, f.ID, f.Index)
	if err != nil {
		panic(fmt.Sprintf("framing: a frame that was checked: %v", err)) // it has no error of its own
	}
	return b
}

// Strip returns the body behind the frame, and an error where the payload has
// another one or none.
func (f Frame) Strip(payload []byte) (body []byte, err error) {
	got, body, err := Read(payload, f.Type)
	switch {
	case err != nil:
		return nil, err
	case got.ID != f.ID:
		return nil, fmt.Errorf("it has the schema id %d, not %d", got.ID, f.ID)
	case !slices.Equal(got.Index, f.Index):
		return nil, fmt.Errorf("it has the message index %s, not %s", FormatIndex(got.Index), FormatIndex(f.Index))
	}
	return body, nil
}

// StripAny returns a function that takes off the frame of any schema of a type.
func StripAny(t sr.SchemaType) func(payload []byte) (body []byte, err error) {
	return func(payload []byte) ([]byte, error) {
		_, body, err := Read(payload, t)
		return body, err
	}
}

// Read reads the frame of a payload whose schema has a type.
func Read(payload []byte, t sr.SchemaType) (f Frame, body []byte, err error) {
	var h sr.ConfluentHeader
	id, body, err := h.DecodeID(payload)
	if err != nil || id > math.MaxInt32 || id < 0 {
		return Frame{}, nil, ErrUnframed
	}
	f = Frame{ID: id, Type: t}
	if t != sr.TypeProtobuf {
		return f, body, nil
	}
	if f.Index, body, err = h.DecodeIndex(body, maxIndex); err == nil {
		err = f.Check()
	}
	if err != nil {
		return Frame{}, nil, fmt.Errorf("behind its schema id %d stands no message index of Protobuf: %w", id, err)
	}
	return f, body, nil
}

// ParseType reads avro, json or protobuf.
func ParseType(text string) (t sr.SchemaType, err error) {
	if err := t.UnmarshalText([]byte(strings.ToUpper(text))); err != nil {
		return t, fmt.Errorf("%q is no type of schema: say json, avro or protobuf", text)
	}
	return t, nil
}

// ParseIndex reads numbers with commas between them, such as 1,0.
func ParseIndex(text string) (index []int, err error) {
	for field := range strings.SplitSeq(text, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil {
			return nil, fmt.Errorf("%q is no message index: it is numbers from 0 with commas between, such as 0, or 1,0 for the first message within the second", text)
		}
		index = append(index, i)
	}
	return index, nil
}

// FormatIndex is the index as ParseIndex reads it.
func FormatIndex(index []int) string {
	texts := make([]string, len(index))
	for i, n := range index {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}
