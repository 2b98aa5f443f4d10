package identity

import (
	"bytes"
	"encoding/hex"
	"slices"

	"queuebench/runner/envelope"
)

// TextSize is the length of an identity as text: the 16 bytes of the envelope
// in hexadecimal digits.
const TextSize = 2 * envelope.Size

// rangeMark stands between the first and the last identity of a range.
const rangeMark = ".."

// AppendText appends an identity as text.
func AppendText(dst []byte, id envelope.ID) []byte {
	var b [envelope.Size]byte
	envelope.Encode(b[:], id)
	return hex.AppendEncode(dst, b[:])
}

// ParseText reads an identity of TextSize digits. Its errors are those of
// envelope.Decode.
func ParseText(text []byte) (envelope.ID, error) {
	var b [envelope.Size]byte
	if len(text) != TextSize {
		return envelope.ID{}, envelope.ErrForeign
	}
	if _, err := hex.Decode(b[:], text); err != nil {
		return envelope.ID{}, envelope.ErrForeign
	}
	return envelope.Decode(b[:])
}

// appendSpans reads a list of identities and of ranges FIRST..LAST, with
// commas. An identity of ours with a wrong end is damaged, not foreign.
func appendSpans(spans []Span, text []byte) ([]Span, error) {
	for item := range bytes.SplitSeq(text, []byte{','}) {
		first, last, ranged := bytes.Cut(bytes.TrimSpace(item), []byte(rangeMark))
		id, err := ParseText(first)
		if err != nil {
			if len(spans) > 0 {
				err = envelope.ErrCorrupt
			}
			return spans, err
		}
		s := Span{id, 1}
		if ranged {
			end, err := ParseText(last)
			if err != nil || end.Kind != id.Kind || end.Producer != id.Producer || end.Tag != id.Tag || end.Seq < id.Seq {
				return spans, envelope.ErrCorrupt
			}
			s.N = end.Seq - id.Seq + 1
		}
		spans = append(spans, s)
	}
	return spans, nil
}

// Cover collects the identities of the inputs that an output is made of. The
// zero value is empty.
type Cover struct {
	n    int64
	sets map[envelope.ID][]interval // by an identity without seq
	last *[]interval                // of the set that was used last
	key  envelope.ID
}

type interval struct{ from, to int64 } // to is exclusive

// Add takes the identity of an input, as its text. Its errors are those of
// ParseText.
func (c *Cover) Add(text []byte) error {
	id, err := ParseText(text)
	if err != nil {
		return err
	}
	c.n++
	seq := id.Seq
	id.Seq = 0
	if c.sets == nil {
		c.sets = map[envelope.ID][]interval{}
	}
	if c.last == nil || c.key != id {
		c.flush()
		set := c.sets[id]
		c.last, c.key = &set, id
	}
	set := *c.last
	if n := len(set); n > 0 && set[n-1].to == seq {
		set[n-1].to++
		return nil
	}
	*c.last = append(set, interval{seq, seq + 1})
	return nil
}

// flush keeps the set that was used last.
func (c *Cover) flush() {
	if c.last != nil {
		c.sets[c.key] = *c.last
	}
}

// Len is the number of identities that were added.
func (c *Cover) Len() int64 { return c.n }

// Reset makes it empty.
func (c *Cover) Reset() { *c = Cover{} }

// Texts are the ranges of all identities, each once, as texts of at most so many
// bytes (one range at least): a single one unless the inputs lie scattered.
func (c *Cover) Texts(most int) []string {
	c.flush()
	keys := make([]envelope.ID, 0, len(c.sets))
	for id := range c.sets {
		keys = append(keys, id)
	}
	slices.SortFunc(keys, func(a, b envelope.ID) int { return bytes.Compare(AppendText(nil, a), AppendText(nil, b)) })
	var texts []string
	var text []byte
	for _, id := range keys {
		for _, iv := range merged(c.sets[id]) {
			if len(text) > 0 && len(text)+2*TextSize+len(rangeMark)+1 > most {
				texts, text = append(texts, string(text)), text[:0]
			}
			if len(text) > 0 {
				text = append(text, ',')
			}
			id.Seq = iv.from
			text = AppendText(text, id)
			if id.Seq = iv.to - 1; id.Seq > iv.from {
				text = AppendText(append(text, rangeMark...), id)
			}
		}
	}
	if len(text) > 0 {
		texts = append(texts, string(text))
	}
	return texts
}

// merged sorts intervals and joins those that touch.
func merged(all []interval) []interval {
	slices.SortFunc(all, func(a, b interval) int {
		switch {
		case a.from < b.from:
			return -1
		case a.from > b.from:
			return 1
		}
		return 0
	})
	var out []interval
	for _, iv := range all {
		if n := len(out); n > 0 && iv.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, iv.to)
			continue
		}
		out = append(out, iv)
	}
	return out
}
