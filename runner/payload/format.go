package payload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"queuebench/queue"
	"queuebench/runner/envelope"
	"queuebench/runner/identity"
)

// Format is what the body of a message is, for pipelines that read it.
type Format int

// The formats. All but RawFormat are text.
const (
	// RawFormat is the identity's 16 bytes and random bytes; only the bytes, or
	// a line of a file as it is, where the identity stands elsewhere.
	RawFormat Format = iota
	// TextFormat is the identity as text, a space and random letters.
	TextFormat
	// JSONFormat is an object with the identity where Spec.Identity says, a
	// whole number "value" and random letters "pad".
	JSONFormat
	// DelimitedFormat is a line with the fields id, value and pad; a header line
	// with these names is sent once, before all else.
	DelimitedFormat
)

var formatNames = [...]string{"raw", "text", "json", "delimited"}

// ParseFormat reads raw, text, json or delimited.
func ParseFormat(text string) (Format, error) {
	for f, name := range formatNames {
		if name == text {
			return Format(f), nil
		}
	}
	return 0, fmt.Errorf("%q is no format of messages: say raw, text, json or delimited", text)
}

// String is the name that ParseFormat reads.
func (f Format) String() string { return formatNames[f] }

// MaxValue is the largest number in a field "value", whose values are those
// from 0 on with equal chance.
const MaxValue = 999

// plainBody tells whether a body is the identity's bytes and what follows them.
func (s *Spec) plainBody() bool { return s.Format == RawFormat && s.Identity.InPayload() }

// inBody tells whether the identity is a part of the body.
func (s *Spec) inBody() bool { return s.Identity.InPayload() || s.Identity.Path() != nil }

func (s *Spec) checkFormat() error {
	path := s.Identity.Path()
	switch {
	case s.Format == JSONFormat && s.Identity.InPayload():
		return errors.New("the identity of a JSON body stands in a field, the key or a header: say json:/id, key or header:NAME")
	case path != nil && s.Format != JSONFormat:
		return fmt.Errorf("the identity at %v needs bodies of the format json", s.Identity)
	case path != nil && (path[0] == "value" || path[0] == "pad"):
		return fmt.Errorf("the identity at %v: this field is another one of the body, such as json:/id", s.Identity)
	case len(path) > 1 && s.Lines != nil:
		return fmt.Errorf("the identity at %v: in the lines of a file it is put into the outermost object, such as json:/id", s.Identity)
	case s.Identity.InKey() && s.Keys.N > 0:
		return errors.New("the identity takes the place of the keys: leave the keys out, or say another place")
	case s.Format == DelimitedFormat && s.Lines != nil && s.Lines.Count() < 2:
		return fmt.Errorf("%s has one line, which is the header of delimited messages: there is no message", s.Lines.Path())
	case s.Format == DelimitedFormat && s.Lines != nil && len(s.Lines.First()) >= maxHeaderLine:
		return fmt.Errorf("%s: the first line, which is the header, is longer than %d bytes", s.Lines.Path(), maxHeaderLine)
	case s.Format == DelimitedFormat && (s.delimiter() == '"' || s.delimiter() == '\n' || s.delimiter() == '\r'):
		return fmt.Errorf("%q cannot separate the fields of a line", s.delimiter())
	}
	if s.Lines != nil {
		return nil
	}
	least := envelope.Size
	if !s.plainBody() {
		least = newBody(s).overhead()
	}
	if least += len(s.Frame); s.Sizes.Min() < least {
		return fmt.Errorf("a message of %d bytes is too small: one of the format %v with its identity takes at least %d", s.Sizes.Min(), s.Format, least)
	}
	return nil
}

func (s *Spec) delimiter() byte {
	if s.Delimiter == 0 {
		return ','
	}
	return s.Delimiter
}

// body makes bodies that are not plain. It is for one goroutine.
type body struct {
	spec                *Spec
	before, after, tail string // of the identity, of the value, at the end
	text                []byte
}

func newBody(s *Spec) *body {
	b := &body{spec: s}
	d := string(s.delimiter())
	switch s.Format {
	case TextFormat:
		if s.inBody() {
			b.before, b.after = "", " "
		}
	case JSONFormat:
		b.before, b.after, b.tail = "{", "", `"}`
		for i, name := range s.Identity.Path() {
			quoted, _ := json.Marshal(name) // a string always can
			b.before += string(quoted) + ":"
			if b.after += "}"; i < len(s.Identity.Path())-1 {
				b.before += "{"
			}
		}
		if s.inBody() {
			b.before, b.after = b.before+`"`, `"`+b.after[1:]+","
		}
	case DelimitedFormat:
		if s.inBody() {
			b.after = d
		}
	}
	return b
}

// fields are what stands around the value and the letters.
func (b *body) fields() (value, pad string) {
	switch b.spec.Format {
	case JSONFormat:
		return `"value":`, `,"pad":"`
	case DelimitedFormat:
		return "", string(b.spec.delimiter())
	}
	return "", ""
}

// overhead is the size of a body without letters, at most: its least size.
func (b *body) overhead() int {
	n := len(b.before) + len(b.after) + len(b.tail)
	if b.spec.inBody() {
		n += identity.TextSize
	}
	value, pad := b.fields()
	if b.spec.Format == JSONFormat || b.spec.Format == DelimitedFormat {
		n += len(strconv.Itoa(MaxValue))
	}
	return n + len(value) + len(pad)
}

// lineOverhead is what a line of a file grows by.
func (b *body) lineOverhead() int {
	if !b.spec.inBody() {
		return 0
	}
	return len(b.before) + identity.TextSize + len(b.after) + 1
}

// HeaderLine is the message that comes before all others, once for each topic;
// nil where the format has none.
func (s *Set) HeaderLine() []byte {
	if s.spec.Format != DelimitedFormat {
		return nil
	}
	d := string(s.spec.delimiter())
	line := "value" + d + "pad"
	if s.spec.Lines != nil {
		line = s.spec.Lines.First()
	}
	if s.spec.inBody() {
		line = "id" + d + line
	}
	return slices.Concat(s.spec.Frame, []byte(line))
}

// value is the number in a message.
func (s *Set) value(producer uint16, seq int64) int64 {
	return int64(mix(s.seed^valueSeed^uint64(producer)<<48^uint64(seq)) % (MaxValue + 1))
}

// fillBody makes message seq of a format, and puts its identity where it is to
// stand. line is its line of a file.
func (s *Source) fillBody(m *queue.Message, id envelope.ID, size int, line []byte) {
	spec, b := &s.set.spec, s.body
	b.text = identity.AppendText(b.text[:0], id)
	m.Headers = spec.Headers
	switch {
	case spec.Identity.InKey():
		m.Key = s.keep(b.text)
	case spec.Identity.Header() != "":
		n := len(s.headers)
		s.headers = append(append(s.headers, spec.Headers...), queue.Header{Name: spec.Identity.Header(), Value: s.keep(b.text)})
		m.Headers = s.headers[n:len(s.headers):len(s.headers)]
	}
	begin := s.used
	size -= len(s.keep(spec.Frame))
	var p []byte // right behind the frame
	switch {
	case spec.Lines != nil:
		p = s.lineBody(line)
	case spec.Format == RawFormat:
		p = s.take(size)
		s.filler.fillAll(p, s.producer, id.Seq)
		thin(p, spec.Compressibility)
	default:
		p = s.textBody(id, size)
	}
	end := begin + len(spec.Frame) + len(p)
	m.Payload = s.slab[begin:end:end]
}

// keep copies bytes into the batch's memory.
func (s *Source) keep(b []byte) []byte {
	p := s.take(len(b))
	copy(p, b)
	return p
}

func (s *Source) textBody(id envelope.ID, size int) []byte {
	spec, b := &s.set.spec, s.body
	p := s.take(size)
	out := append(p[:0], b.before...)
	if spec.inBody() {
		out = append(out, b.text...)
	}
	out = append(out, b.after...)
	value, pad := b.fields()
	if spec.Format != TextFormat {
		out = strconv.AppendInt(append(out, value...), s.set.value(id.Producer, id.Seq), 10)
		out = append(out, pad...)
	}
	letters := p[len(out) : size-len(b.tail)]
	s.filler.fillAll(letters, s.producer, id.Seq)
	thin(letters, spec.Compressibility)
	for i, c := range letters {
		letters[i] = letterOf[c&63]
	}
	copy(p[size-len(b.tail):], b.tail)
	return p
}

const letterOf = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// lineBody is a line with its identity in it.
func (s *Source) lineBody(line []byte) []byte {
	spec, b := &s.set.spec, s.body
	if !spec.inBody() {
		return s.keep(line)
	}
	p := s.take(b.lineOverhead() + len(line))
	out := append(append(append(p[:0], b.before...), b.text...), b.after...)
	if spec.Format == JSONFormat {
		rest := bytes.TrimLeft(line, " \t")
		if len(rest) == 0 || rest[0] != '{' {
			s.err = fmt.Errorf("%w: a line of %s is no JSON object, which could take the identity: %.60q", ErrLines, spec.Lines.Path(), line)
			return nil
		}
		if line = bytes.TrimLeft(rest[1:], " \t"); len(line) > 0 && line[0] == '}' {
			out = out[:len(out)-1] // the comma, before nothing
		}
	}
	return append(out, line...)
}

// formattedMark is the end mark of a format.
func (s *Source) formattedMark(partition int32, messages int64) queue.Message {
	spec := &s.set.spec
	b := newBody(spec) // marks are few
	id := identity.AppendText(nil, envelope.ID{Kind: envelope.End, Producer: s.producer, Tag: s.tag, Seq: messages})
	m := queue.Message{Partition: partition, Headers: spec.Headers}
	switch {
	case spec.Identity.InKey():
		m.Key = id
	case spec.Identity.Header() != "":
		m.Headers = append(spec.Headers[:len(spec.Headers):len(spec.Headers)], queue.Header{Name: spec.Identity.Header(), Value: id})
	}
	m.Payload = slices.Clone(spec.Frame)
	if spec.inBody() {
		m.Payload = slices.Concat(m.Payload, []byte(b.before), id, []byte(b.after))
		if spec.Format == JSONFormat {
			m.Payload = append(m.Payload, `"value":0}`...)
		}
	}
	return m
}
