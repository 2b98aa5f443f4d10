package importer

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
)

const (
	// maxLine is the longest line or record that is taken, in bytes: vegeta
	// records bodies in theirs.
	maxLine = 16 << 20
	// maxWhole is the largest input of a format that is read as a whole.
	maxWhole = 64 << 20
)

var errLongLine = fmt.Errorf("longer than %d MB", maxLine>>20)

// lineReader reads lines of any ending. Its memory is that of the longest one.
type lineReader struct {
	r    *bufio.Reader
	buf  []byte
	line int // number of the line that next returned
}

// next is the next line without its ending; io.EOF at the end.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	l.line++
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.buf)+len(part) > maxLine {
			return nil, errLongLine
		}
		l.buf = append(l.buf, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF) && len(l.buf) > 0:
			return bytes.TrimRight(l.buf, "\r\n"), nil
		default:
			return nil, err
		}
	}
}

// eachLine calls f for each line that is not blank. An error of f or of reading
// names the line.
func (s *source) eachLine(f func(line []byte) error) error {
	l := lineReader{r: s.r}
	for {
		text, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && len(bytes.TrimSpace(text)) > 0 {
			err = f(text)
		}
		if err != nil {
			return s.fail(l.line, "%w", err)
		}
	}
}

// recordReader reads CSV records whose size is bounded.
type recordReader struct {
	csv     *csv.Reader
	limited *limited
}

// limited ends an input that goes on without an end of record.
type limited struct {
	r    io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLongLine
	}
	n, err := l.r.Read(p)
	l.left -= n
	return n, err
}

func newRecords(r io.Reader, comma rune) *recordReader {
	l := &limited{r: r, left: maxLine}
	c := csv.NewReader(l)
	c.Comma, c.ReuseRecord, c.FieldsPerRecord, c.LazyQuotes = comma, true, -1, true
	return &recordReader{csv: c, limited: l}
}

// next is the next record, valid until the next call, and its line; 0 where an error
// came before the first field was whole.
func (r *recordReader) next() (fields []string, line int, err error) {
	r.limited.left = maxLine
	fields, err = r.csv.Read()
	if err != nil {
		var parse *csv.ParseError
		if errors.As(err, &parse) {
			return nil, parse.Line, parse.Err
		}
		if len(fields) > 0 { // FieldPos panics without one
			line, _ = r.csv.FieldPos(0)
		}
		return nil, line, err
	}
	line, _ = r.csv.FieldPos(0)
	return fields, line, nil
}

// eachRecord calls f for each record.
func (s *source) eachRecord(comma rune, f func(fields []string) error) error {
	records := newRecords(s.r, comma)
	last := 0
	for {
		fields, line, err := records.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = f(fields)
		} else if line == 0 {
			line = last + 1
		}
		if err != nil {
			return s.fail(line, "%w", err)
		}
		last = line
	}
}

// whole reads the input as a whole.
func (s *source) whole() ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(s.r, maxWhole+1))
	if err != nil {
		return nil, s.fail(0, "%w", err)
	}
	if len(body) > maxWhole {
		return nil, s.fail(0, "more than %d MB, which no file of this format has", maxWhole>>20)
	}
	return body, nil
}

// lineOf is the number of the line that holds an offset.
func lineOf(body []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(body)))
	return 1 + bytes.Count(body[:offset], []byte("\n"))
}

// firstLines are complete lines at the beginning of an input, at most n, without
// blank ones and comments.
func firstLines(head []byte, n int) [][]byte {
	var out [][]byte
	for line := range bytes.SplitSeq(head, []byte("\n")) {
		line = bytes.TrimRight(line, "\r")
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
			continue
		}
		if out = append(out, line); len(out) == n {
			break
		}
	}
	return out
}

func firstLine(head []byte) []byte {
	if lines := firstLines(head, 1); len(lines) > 0 {
		return lines[0]
	}
	return nil
}
