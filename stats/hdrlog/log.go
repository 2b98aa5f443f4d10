package hdrlog

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"queuebench/stats"
)

// Line is one interval histogram of a log.
type Line struct {
	// Tag names the series; it holds no comma, space or line break. Empty for
	// none.
	Tag string
	// StartNs and LengthNs are in ns, the start since the log's base time. The
	// text has microseconds.
	StartNs, LengthNs int64
	// Buckets are of magnitudes, ascending, indexes from 0 on: the format has
	// no negative values.
	Buckets []stats.Bucket
	// Cells stand in the place of Buckets where a histogram has another geometry,
	// from a Reader that takes it.
	Cells []Cell
}

// Writer writes a log. The first error is kept and returned by every call
// after it.
type Writer struct {
	w    io.Writer
	enc  encoder
	line []byte
	err  error
}

// NewWriter returns a Writer. It does not buffer.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// storedBelow is the size of a histogram, in bytes, from which its own Huffman
// table saves more than it costs in a log that is compressed as a whole. Ten rates
// of twelve intervals came to 703 kB where all were stored, 619 where none was, and
// 620 with this; 600 intervals of three rates to 1,803, 2,269 and 1,803.
const storedBelow = 1000

// Store makes the Writer store small histograms inside of their zlib streams,
// without compression, for a log that is compressed as a whole: 600 intervals of
// three rates came to 1.14 MB of gzip instead of 1.58, and were read in 0.6 of the
// time, since a Huffman table for each of thousands of small histograms costs more
// than it saves. It must be called before the first histogram.
func (w *Writer) Store() { w.enc.stored = storedBelow }

// Header writes the version, the start, which is also the base of the times in
// the lines, and the legend.
func (w *Writer) Header(startNs int64) error {
	t := time.Unix(0, startNs).UTC()
	sec := strconv.FormatFloat(float64(startNs/1e6)/1e3, 'f', 3, 64)
	w.line = fmt.Appendf(w.line[:0], "#[Histogram log format version 1.3]\n"+
		"#[StartTime: %s (seconds since epoch), %s]\n#[BaseTime: %s (seconds since epoch)]\n"+
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
		sec, t.Format(time.RFC3339), sec)
	return w.flush()
}

// Comment writes a comment line: "#" and the text, which holds no line break.
// Other readers skip it.
func (w *Writer) Comment(text []byte) error {
	if bytes.ContainsAny(text, "\r\n") {
		return fmt.Errorf("a comment of a histogram log with a line break")
	}
	w.line = append(append(append(w.line[:0], '#'), text...), '\n')
	return w.flush()
}

// Histogram writes an interval line.
func (w *Writer) Histogram(l Line) error {
	if w.err != nil {
		return w.err
	}
	if strings.ContainsAny(l.Tag, ", \r\n\t") {
		return fmt.Errorf("the tag %q of a histogram log holds a comma or a space", l.Tag)
	}
	if l.StartNs < 0 || l.LengthNs < 0 {
		return fmt.Errorf("an interval of %d ns from %d ns on cannot stand in a histogram log", l.LengthNs, l.StartNs)
	}
	w.line = w.line[:0]
	if l.Tag != "" {
		w.line = append(append(append(w.line, "Tag="...), l.Tag...), ',')
	}
	w.line = append(appendSeconds(w.line, l.StartNs), ',')
	w.line = append(appendSeconds(w.line, l.LengthNs), ',')
	var high int64
	if n := len(l.Buckets); n > 0 {
		_, high = stats.Bounds(l.Buckets[n-1].Index)
	}
	// The maximum is in ms, by the convention of such logs for ns values.
	w.line = append(strconv.AppendFloat(w.line, float64(high)/1e6, 'f', 6, 64), ',')
	var err error
	if w.line, err = w.enc.appendTo(w.line, l.Buckets); err != nil {
		return err
	}
	w.line = append(w.line, '\n')
	return w.flush()
}

func (w *Writer) flush() error {
	if w.err == nil {
		_, w.err = w.w.Write(w.line)
	}
	return w.err
}

// appendSeconds appends ns as seconds with 6 decimals, from whole numbers.
func appendSeconds(dst []byte, ns int64) []byte {
	us := (ns + 500) / 1000
	dst = append(strconv.AppendInt(dst, us/1e6, 10), '.')
	frac := strconv.AppendInt(nil, 1e6+us%1e6, 10)
	return append(dst, frac[1:]...)
}

// MaxLine is the longest line that a Reader takes, in bytes.
const MaxLine = 32 << 20

// Reader reads a log line by line. Memory is that of the longest line.
type Reader struct {
	r    *bufio.Reader
	dec  decoder
	buf  []byte
	line int
}

// NewReader returns a Reader.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 64<<10)} }

// TakeAnyGeometry makes the Reader take histograms of any number of digits and
// any lowest value: they come as cells.
func (r *Reader) TakeAnyGeometry() { r.dec.any = true }

// LineNumber is the number of the line that Next returned last, from 1.
func (r *Reader) LineNumber() int { return r.line }

// Next returns the next comment (without its "#", valid until the next call) or
// the next histogram. At the end the error is io.EOF.
func (r *Reader) Next() (comment []byte, l *Line, err error) {
	for {
		text, err := r.read()
		if err != nil {
			return nil, nil, err
		}
		switch {
		case len(text) == 0 || text[0] == '"':
			continue
		case text[0] == '#':
			return text[1:], nil, nil
		}
		l, err := r.parse(text)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", r.line, err)
		}
		return nil, l, nil
	}
}

func (r *Reader) read() ([]byte, error) {
	r.buf = r.buf[:0]
	r.line++
	for {
		part, err := r.r.ReadSlice('\n')
		if len(r.buf)+len(part) > MaxLine {
			return nil, fmt.Errorf("line %d: longer than %d bytes", r.line, MaxLine)
		}
		r.buf = append(r.buf, part...)
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(r.buf) > 0, err == nil:
			return bytes.TrimRight(r.buf, "\r\n"), nil
		default:
			return nil, err
		}
	}
}

func (r *Reader) parse(text []byte) (*Line, error) {
	var l Line
	if rest, ok := bytes.CutPrefix(text, []byte("Tag=")); ok {
		tag, rest, ok := bytes.Cut(rest, []byte(","))
		if !ok {
			return nil, fmt.Errorf("a tag without a histogram")
		}
		l.Tag, text = string(tag), rest
	}
	fields := bytes.SplitN(text, []byte(","), 4)
	if len(fields) != 4 {
		return nil, fmt.Errorf("not an interval of a histogram log: %d fields instead of 4", len(fields))
	}
	var err error
	if l.StartNs, err = parseSeconds(fields[0]); err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	if l.LengthNs, err = parseSeconds(fields[1]); err != nil {
		return nil, fmt.Errorf("length: %w", err)
	}
	if l.Buckets, l.Cells, err = r.dec.decodeAny(bytes.TrimSpace(fields[3])); err != nil {
		return nil, fmt.Errorf("histogram: %w", err)
	}
	return &l, nil
}

func parseSeconds(text []byte) (int64, error) {
	s, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
	if err != nil {
		return 0, err
	}
	if !(s >= 0 && s < 1e9*9) {
		return 0, fmt.Errorf("%g s", s)
	}
	return int64(s*1e6+0.5) * 1000, nil
}
