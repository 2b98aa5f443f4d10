package identity

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"queuebench/runner/envelope"
)

// jsonReader finds a field of JSON bodies. It keeps its decoder.
type jsonReader struct {
	body    bytes.Reader
	decoder *jsontext.Decoder
	text    []byte
}

// read reads the identities at the field that path leads to: a string, or an
// array of strings. What stands behind the field is not looked at.
func (r *jsonReader) read(spans []Span, body []byte, path []string) ([]Span, error) {
	r.body.Reset(body)
	if r.decoder == nil {
		r.decoder = jsontext.NewDecoder(&r.body, jsontext.AllowDuplicateNames(true))
	} else {
		r.decoder.Reset(&r.body, jsontext.AllowDuplicateNames(true))
	}
	for _, name := range path {
		if !r.enter(name) {
			return spans, envelope.ErrForeign
		}
	}
	if r.decoder.PeekKind() != '[' {
		return r.one(spans)
	}
	if _, err := r.decoder.ReadToken(); err != nil {
		return spans, envelope.ErrForeign
	}
	for r.decoder.PeekKind() != ']' {
		var err error
		if spans, err = r.one(spans); err != nil {
			return spans, err
		}
	}
	return spans, nil
}

// enter goes to a member of the value that comes next: of an object by its
// name, of an array by its index.
func (r *jsonReader) enter(name string) bool {
	d := r.decoder
	switch d.PeekKind() {
	case '{':
		if _, err := d.ReadToken(); err != nil {
			return false
		}
		for d.PeekKind() == '"' {
			value, err := d.ReadValue()
			if err != nil {
				return false
			}
			if r.text, err = jsontext.AppendUnquote(r.text[:0], value); err != nil {
				return false
			}
			if string(r.text) == name {
				return true
			}
			if d.SkipValue() != nil {
				return false
			}
		}
	case '[':
		index, err := strconv.ParseUint(name, 10, 31)
		if err != nil || len(name) > 1 && name[0] == '0' {
			return false
		}
		if _, err := d.ReadToken(); err != nil {
			return false
		}
		for ; index > 0; index-- {
			if d.PeekKind() == ']' || d.SkipValue() != nil {
				return false
			}
		}
		return d.PeekKind() != ']' && d.PeekKind() != 0
	}
	return false
}

// one reads a string of identities.
func (r *jsonReader) one(spans []Span) ([]Span, error) {
	value, err := r.decoder.ReadValue()
	if err != nil || value.Kind() != '"' {
		return spans, envelope.ErrForeign
	}
	if r.text, err = jsontext.AppendUnquote(r.text[:0], value); err != nil {
		return spans, envelope.ErrForeign
	}
	return appendSpans(spans, r.text)
}
