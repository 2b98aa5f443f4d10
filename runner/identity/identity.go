// Package identity says where a message carries its identity, and reads from a
// message which others it stands for.
//
// A pipeline between a producer and a consumer may rewrite what it is handed.
// So the identity, which stands in the first bytes of a payload otherwise, can
// stand in the key, in a header or in a field of a JSON body, as text. A
// pipeline that makes one message of several says so by a range, or a list of
// ranges, of identities that it copies from its inputs; it need not know what
// they mean.
//
// The package refuses to guess: what is no identity, or a damaged one, is an
// error and never a message.
package identity

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"queuebench/queue"
	"queuebench/runner/envelope"
)

// Place is where the identity of a message is. The zero value is the payload.
type Place struct {
	kind    kind
	header  string
	pointer jsontext.Pointer
	tokens  []string // of pointer, unescaped
}

type kind int

const (
	inPayload kind = iota
	inKey
	inHeader
	inJSON
)

// ParsePlace reads payload, key, header:NAME or json:POINTER, a JSON Pointer of
// RFC 6901 such as /meta/id.
func ParsePlace(text string) (Place, error) {
	name, rest, has := strings.Cut(text, ":")
	switch {
	case name == "payload" && !has:
		return Place{}, nil
	case name == "key" && !has:
		return Place{kind: inKey}, nil
	case name == "header" && rest != "":
		return Place{kind: inHeader, header: rest}, nil
	case name == "json" && has:
		p := Place{kind: inJSON, pointer: jsontext.Pointer(rest)}
		if !p.pointer.IsValid() || rest == "" {
			return Place{}, fmt.Errorf("%q is no JSON Pointer to a field: it begins with / and has ~0 for ~ and ~1 for / in a name, such as /meta/id", rest)
		}
		for token := range p.pointer.Tokens() {
			p.tokens = append(p.tokens, token)
		}
		return p, nil
	}
	return Place{}, fmt.Errorf("%q is no place of an identity: say payload, key, header:NAME or json:/pointer", text)
}

// String is the place as ParsePlace reads it.
func (p Place) String() string {
	switch p.kind {
	case inKey:
		return "key"
	case inHeader:
		return "header:" + p.header
	case inJSON:
		return "json:" + string(p.pointer)
	}
	return "payload"
}

// InPayload, InKey, Header and Path tell which place it is: Header is the name
// of the header, empty for another place; Path are the names of the fields that
// lead to a JSON field, nil for another place.
func (p Place) InPayload() bool { return p.kind == inPayload }

// InKey tells whether it is the key.
func (p Place) InKey() bool { return p.kind == inKey }

// Header is the name of the header; empty for another place.
func (p Place) Header() string { return p.header }

// Path are the names of the fields that lead to a JSON field, outermost first;
// nil for another place.
func (p Place) Path() []string { return p.tokens }

// Span is N consecutive messages of one producer, from First on.
type Span struct {
	First envelope.ID
	N     int64 // at least 1
}

// Reader reads the identities of deliveries. It is for one goroutine.
type Reader struct {
	place Place
	json  jsonReader
	spans []Span
}

// NewReader makes a reader of identities at a place.
func NewReader(p Place) *Reader { return &Reader{place: p} }

// Read returns the messages that a delivery stands for, at least one. The slice
// is valid until the next call. Its errors are envelope.ErrForeign, where there
// is no identity of ours, and envelope.ErrCorrupt.
func (r *Reader) Read(d *queue.Delivery) ([]Span, error) {
	r.spans = r.spans[:0]
	var err error
	switch r.place.kind {
	case inKey:
		r.spans, err = appendSpans(r.spans, d.Key)
	case inHeader:
		err = envelope.ErrForeign
		for i := range d.Headers {
			if d.Headers[i].Name == r.place.header {
				r.spans, err = appendSpans(r.spans, d.Headers[i].Value)
				break
			}
		}
	case inJSON:
		r.spans, err = r.json.read(r.spans, d.Payload, r.place.tokens)
	default:
		r.spans, err = readPayload(r.spans, d.Payload)
	}
	if err == nil && len(r.spans) == 0 {
		err = envelope.ErrForeign
	}
	return r.spans, err
}

// readPayload reads the bytes that begin a payload, or the text that does.
func readPayload(spans []Span, payload []byte) ([]Span, error) {
	id, err := envelope.Decode(payload)
	if err == nil || errors.Is(err, envelope.ErrCorrupt) {
		return append(spans, Span{id, 1}), err
	}
	if len(payload) < TextSize {
		return spans, envelope.ErrForeign
	}
	id, err = ParseText(payload[:TextSize])
	return append(spans, Span{id, 1}), err
}
