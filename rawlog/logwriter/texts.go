package logwriter

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"

	"queuebench/rawlog"
)

// texts is a column of strings, of which few differ.
type texts[T any] struct {
	column rawlog.Column
	// same returns the string of the first row, and how many rows from there on
	// have it. "" in an optional column is null.
	same func(rows []T) (string, int)

	levels  runs
	nulls   int64
	indexes runs
	dict    []string
	find    map[string]uint32
	last    uint32 // index of the string before
	bytes   int    // of the dictionary as it is written
}

func newTexts[T any](column rawlog.Column, same func(rows []T) (string, int)) *texts[T] {
	return &texts[T]{column: column, same: same, find: make(map[string]uint32)}
}

func (t *texts[T]) take(rows []T) {
	for len(rows) > 0 {
		s, n := t.same(rows)
		rows = rows[n:]
		if t.column.Optional {
			if s == "" {
				t.levels.add(0, n)
				t.nulls += int64(n)
				continue
			}
			t.levels.add(1, n)
		}
		t.indexes.add(t.index(s), n)
	}
}

func (t *texts[T]) index(s string) uint32 {
	if len(t.dict) > 0 && t.dict[t.last] == s {
		return t.last
	}
	i, known := t.find[s]
	if !known {
		i = uint32(len(t.dict))
		t.dict = append(t.dict, s)
		t.find[s] = i
		t.bytes += 4 + len(s)
	}
	t.last = i
	return i
}

func (t *texts[T]) size() int { return t.bytes }

func (t *texts[T]) flush(c *columnChunk) {
	c.begin(t.column, t.nulls, t.levels)
	if len(t.dict) > 0 {
		lo, hi := t.dict[0], t.dict[0]
		for _, s := range t.dict {
			c.dict = binary.LittleEndian.AppendUint32(c.dict, uint32(len(s)))
			c.dict = append(c.dict, s...)
			lo, hi = min(lo, s), max(hi, s)
		}
		c.dictSize = len(t.dict)
		c.min, c.max = append(c.min, lowerBound(lo)...), append(c.max, upperBound(hi)...)
		width := indexWidth(len(t.dict))
		c.page = t.indexes.appendTo(append(c.page, byte(width)), width)
		c.encoding = format.RLEDictionary
	}
	t.levels, t.nulls, t.indexes = t.levels[:0], 0, t.indexes[:0]
	clear(t.dict) // lets go of the strings
	clear(t.find)
	t.dict, t.last, t.bytes = t.dict[:0], 0, 0
}

// boundBytes is how long a bound is at most, or nearly: bounds lie in the
// footer, and a text may be of any length.
const boundBytes = 64

// lowerBound is s, or a beginning of it.
func lowerBound(s string) string {
	if len(s) <= boundBytes {
		return s
	}
	end := boundBytes
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// upperBound is s, or something short that is greater: a beginning of it whose
// last letter was raised by one.
func upperBound(s string) string {
	if len(s) <= boundBytes {
		return s
	}
	short := lowerBound(s)
	at := strings.LastIndexFunc(short, func(r rune) bool { return r < 0x7f })
	if at < 0 {
		return s // all of it beyond ASCII: rare, and long bounds are true too
	}
	return short[:at] + string(rune(short[at]+1))
}
