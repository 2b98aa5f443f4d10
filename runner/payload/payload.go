// Package payload makes the messages of a step: identity, body, key, headers.
//
// A message follows from the seed, its producer and its seq alone, so that a
// run can be repeated byte for byte, and making one allocates nothing. The
// package refuses to know when a message is due or what becomes of it, and to
// make one that has no room for its identity.
package payload

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"queuebench/queue"
	"queuebench/runner/envelope"
	"queuebench/runner/identity"
)

// MaxSize bounds a message, bytes.
const MaxSize = 64 << 20

// PathwaySize is the size of the messages of the generator that the arrivals
// pathway-burst follow, bytes.
const PathwaySize = 18

// Spec says what messages are like. The zero value is not ready: Sizes or Lines
// is needed.
type Spec struct {
	// Sizes are those of the messages, identity included.
	Sizes Sizes
	// Compressibility is the share of a body that a compressor can take away,
	// in [0,1]: that part is zeros, the rest random. The body is what stands
	// behind the identity.
	Compressibility float64
	// Lines, in the place of Sizes, are the bodies: message i of the step is
	// line i, and after the last line comes the first again.
	Lines *Lines
	Keys  Keys
	// Headers are those of every message.
	Headers []queue.Header
	// Identity is where a message carries its identity.
	Identity identity.Place
	// Format is what bodies are.
	Format Format
	// Delimiter stands between the fields of DelimitedFormat; a comma if 0.
	Delimiter byte
	// Frame stands before each body, end marks and the header line included, and
	// counts as a part of the message: the header of a registered schema, for
	// instance. nil for none.
	Frame []byte
}

// Fixed is a spec of messages of one size without anything else.
func Fixed(bytes int) Spec { return Spec{Sizes: FixedSize(bytes)} }

// Check refuses what cannot be made, with what to change.
func (s *Spec) Check() error {
	if c := s.Compressibility; math.IsNaN(c) || c < 0 || c > 1 {
		return fmt.Errorf("compressibility %v is not between 0 and 1: 0 is random bytes, 1 is zeros", c)
	}
	if s.Lines != nil {
		if s.Sizes != (Sizes{}) || s.Compressibility != 0 {
			return errors.New("the lines of a file are the bodies: they leave no choice of size or compressibility")
		}
	} else if err := s.Sizes.check(); err != nil {
		return err
	}
	for _, h := range s.Headers {
		if h.Name == "" {
			return errors.New("a header has no name: write name=value")
		}
	}
	return errors.Join(s.checkFormat(), s.Keys.check())
}

// Largest is the size of the largest payload, bytes.
func (s *Spec) Largest() int {
	switch {
	case s.Lines != nil && s.plainBody():
		return len(s.Frame) + envelope.Size + s.Lines.Longest()
	case s.Lines != nil:
		return len(s.Frame) + newBody(s).lineOverhead() + s.Lines.Longest()
	}
	return s.Sizes.Max()
}

// Smallest is the size of the smallest that can be, bytes.
func (s *Spec) Smallest() int {
	switch {
	case s.Lines != nil && s.plainBody():
		return len(s.Frame) + envelope.Size
	case s.Lines != nil:
		return len(s.Frame) + newBody(s).lineOverhead()
	}
	return s.Sizes.Min()
}

// Set is the messages of a step, of all its producers.
type Set struct {
	spec      Spec
	producers int64
	filler    *Filler
	seed      uint64
}

// New makes a set. The spec has been checked.
func New(spec Spec, seed uint64, producers int) *Set {
	return &Set{spec: spec, producers: int64(producers), filler: NewFiller(seed), seed: seed}
}

// Source makes the messages of one producer, into memory of its own that each
// batch uses again. One goroutine uses it.
type Source struct {
	set      *Set
	filler   *Filler
	producer uint16
	tag      uint32
	head     envelope.Head
	size     int // of every message; 0 if they differ
	plain    bool

	slab []byte
	used int
	most int

	lines   *lineReader
	chooser *chooser // of keys; nil for none
	width   int      // digits of a key
	body    *body    // nil for plain bodies
	headers []queue.Header
	err     error
}

// Source makes the source of a producer, whose batches have at most so many
// messages and bytes, but for a single message that is larger.
func (s *Set) Source(producer int, tag uint32, messages, bytes int) (*Source, error) {
	src := &Source{set: s, filler: s.filler, producer: uint16(producer), tag: tag, head: envelope.NewHead(envelope.Data, uint16(producer), tag), size: s.spec.Sizes.fixed()}
	src.plain = src.size > 0 && s.spec.Compressibility == 0 && s.spec.Keys.N == 0 && len(s.spec.Headers) == 0 && s.spec.plainBody() && len(s.spec.Frame) == 0
	if !s.spec.plainBody() {
		src.body = newBody(&s.spec)
	}
	if s.spec.Keys.N > 0 {
		src.chooser = s.spec.Keys.chooser(mix(s.seed ^ keySeed))
		src.width = len(strconv.FormatInt(s.spec.Keys.N-1, 10))
	}
	if s.spec.Lines != nil {
		var err error
		if src.lines, err = s.spec.Lines.open(); err != nil {
			return nil, err
		}
	}
	keys := src.keyLen()
	src.slab = make([]byte, max(bytes, s.spec.Largest()+keys))
	src.most = max(1, min(messages, bytes/max(1, s.spec.Smallest()+keys)))
	return src, nil
}

// What tells the random words of one use from those of another.
const (
	sizeSeed = 0x53495A45
	keySeed  = 0x4B455953

	valueSeed = 0x56414C55
)

// Most is the number of messages of the largest batch.
func (s *Source) Most() int { return s.most }

// Next begins a batch: the memory of the last one is used again.
func (s *Source) Next() { s.used, s.headers = 0, s.headers[:0] }

// Fill makes message seq, and leaves its partition alone. It is false when the
// batch has no room for it (which the first message of a batch always has), or
// when there is an error, which Err tells. What it points to is valid until
// Next.
func (s *Source) Fill(m *queue.Message, seq int64) bool {
	if s.plain {
		end := s.used + s.size
		if end > len(s.slab) {
			return false
		}
		p := s.slab[s.used:end:end]
		s.used = end
		s.head.Encode(p, seq)
		s.filler.Fill(p, s.producer, seq)
		m.Payload = p
		return true
	}
	return s.fillAny(m, seq)
}

func (s *Source) fillAny(m *queue.Message, seq int64) bool {
	spec := &s.set.spec
	index := seq*s.set.producers + int64(s.producer) // of the whole step
	var line []byte
	size := s.size
	switch {
	case s.lines != nil:
		if line, s.err = s.lines.line(spec.lineOf(index)); s.err != nil {
			return false
		}
		size = envelope.Size + len(line)
		if s.body != nil {
			size = s.body.lineOverhead() + len(line)
		}
		size += len(spec.Frame)
	case size == 0:
		size = spec.Sizes.size(mix(s.set.seed ^ sizeSeed ^ uint64(s.producer)<<48 ^ uint64(seq)))
	}
	if s.used+size+s.keyLen() > len(s.slab) {
		return false
	}
	if s.body != nil {
		s.fillBody(m, envelope.ID{Producer: s.producer, Tag: s.tag, Seq: seq}, size, line)
		if s.chooser != nil {
			m.Key = s.key(s.chooser.choose(index))
		}
		return s.err == nil
	}
	m.Payload, m.Headers = s.take(size), spec.Headers
	p := m.Payload[copy(m.Payload, spec.Frame):]
	s.head.Encode(p, seq)
	if s.lines != nil {
		copy(p[envelope.Size:], line)
	} else {
		s.filler.Fill(p, s.producer, seq)
		thin(p[envelope.Size:], spec.Compressibility)
	}
	if s.chooser != nil {
		m.Key = s.key(s.chooser.choose(index))
	}
	return true
}

func (s *Source) take(n int) []byte {
	p := s.slab[s.used : s.used+n : s.used+n]
	s.used += n
	return p
}

// keyPrefix begins each key; its number follows, in as many digits as the
// largest has.
const keyPrefix = "key-"

// keyLen is what a message takes of the batch's memory beside its body.
func (s *Source) keyLen() (n int) {
	if s.chooser != nil {
		n = len(keyPrefix) + s.width
	}
	if !s.set.spec.inBody() {
		n += identity.TextSize
	}
	return n
}

func (s *Source) key(k int64) []byte {
	b := s.take(len(keyPrefix) + s.width)
	copy(b, keyPrefix)
	for i := len(b) - 1; i >= len(keyPrefix); i-- {
		b[i] = byte('0' + k%10)
		k /= 10
	}
	return b
}

// Mark makes the end mark of the producer for a partition, with memory of its
// own: it says that it sent so many messages. It has the size of the messages,
// or of the smallest where they differ.
func (s *Source) Mark(partition int32, messages int64) queue.Message {
	if s.body != nil {
		return s.formattedMark(partition, messages)
	}
	frame := s.set.spec.Frame
	payload := make([]byte, max(len(frame)+envelope.Size, s.set.spec.Smallest()))
	p := payload[copy(payload, frame):]
	envelope.Encode(p, envelope.ID{Kind: envelope.End, Producer: s.producer, Tag: s.tag, Seq: messages})
	s.filler.Fill(p, s.producer, envelope.MaxSeq-int64(partition))
	return queue.Message{Payload: payload, Partition: partition, Headers: s.set.spec.Headers}
}

// Err is why Fill failed; nil if it did not.
func (s *Source) Err() error { return s.err }

// Close releases the file of lines.
func (s *Source) Close() error {
	if s.lines == nil {
		return nil
	}
	return s.lines.close()
}
