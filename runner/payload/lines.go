package payload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"queuebench/runner/envelope"
)

// Lines is a file whose lines are the bodies of messages. Its text stays in the
// file; what is kept of it is where some of its lines begin.
//
// A line ends with \n or \r\n, which are no part of it, and the last one may
// end with the file. An empty line is a message that has its identity only.
type Lines struct {
	path     string
	size     int64
	modified time.Time
	count    int64
	longest  int
	first    string
	stride   int64   // lines between two marks
	marks    []int64 // where line 0, stride, 2·stride, … begins
}

// maxMarks bounds the memory of Lines: 8 bytes each.
const maxMarks = 1 << 16

// ErrLines is that a file of lines could not be read as it was when the run
// began.
var ErrLines = errors.New("the file of payloads cannot be read on")

// OpenLines reads a file once and keeps where its lines are. It refuses a file
// without a line, and one with a line that makes no message, by its number.
func OpenLines(path string) (*Lines, error) {
	info, err := os.Stat(path) // before it is opened, which waits for the writer of a pipe
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: its lines are read more than once", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	l := &Lines{path: path, size: info.Size(), modified: info.ModTime(), stride: 1}
	if err := l.scan(bufio.NewReaderSize(f, 1<<18)); err != nil {
		return nil, err
	}
	if l.count == 0 {
		return nil, fmt.Errorf("%s is empty: there is no line to send", path)
	}
	first := make([]byte, min(l.size, maxHeaderLine))
	if n, err := f.ReadAt(first, 0); err != nil && !(err == io.EOF && n == len(first)) {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	l.first, _, _ = strings.Cut(string(first), "\n")
	l.first = strings.TrimSuffix(l.first, "\r")
	return l, nil
}

func (l *Lines) scan(r *bufio.Reader) error {
	var at int64
	for {
		length, ended, err := skipLine(r)
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading %s: %w", l.path, err)
		}
		if length == 0 && err == io.EOF {
			return nil
		}
		if body := length - ended; body > MaxSize-envelope.Size {
			return fmt.Errorf("%s: line %d has %d bytes, more than the %d of a message that leave room for its identity", l.path, l.count+1, body, MaxSize-envelope.Size)
		} else {
			l.longest = max(l.longest, int(body))
		}
		l.mark(at)
		l.count++
		at += length
	}
}

// mark keeps where line count begins, if it is one to keep.
func (l *Lines) mark(at int64) {
	if l.count%l.stride != 0 {
		return
	}
	if len(l.marks) == maxMarks {
		for i := range maxMarks / 2 {
			l.marks[i] = l.marks[2*i]
		}
		l.marks, l.stride = l.marks[:maxMarks/2], 2*l.stride
	}
	l.marks = append(l.marks, at)
}

// skipLine reads over a line: its bytes with what ends it, and how many of
// these end it.
func skipLine(r *bufio.Reader) (length, ended int64, err error) {
	var last byte
	for {
		part, err := r.ReadSlice('\n')
		length += int64(len(part))
		n := len(part)
		if err == nil {
			if n > 1 {
				last = part[n-2]
			}
			if ended = 1; last == '\r' && length > 1 {
				ended = 2
			}
			return length, ended, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return length, 0, err
		}
		last = part[n-1]
	}
}

// maxHeaderLine bounds what is kept of the first line, bytes.
const maxHeaderLine = 1 << 16

// First is the first line, as it was when the file was opened, or its first
// maxHeaderLine bytes.
func (l *Lines) First() string { return l.first }

// lineOf is the line of message index of a step: each after the last, over and
// over, but for a first one that is a header.
func (s *Spec) lineOf(index int64) int64 {
	if s.Format == DelimitedFormat {
		return 1 + index%(s.Lines.Count()-1)
	}
	return index % s.Lines.Count()
}

// Count is the number of lines, at least 1.
func (l *Lines) Count() int64 { return l.count }

// Longest is the length of the longest line, bytes.
func (l *Lines) Longest() int { return l.longest }

// Path is where the file lies.
func (l *Lines) Path() string { return l.path }

// lineReader reads lines in ascending order quickly.
type lineReader struct {
	l    *Lines
	f    *os.File
	r    *bufio.Reader
	next int64 // line that r stands at
	at   int64 // where that line begins
}

// farAhead is from how many bytes on it is cheaper to seek than to read over.
const farAhead = 1 << 17

func (l *Lines) open() (*lineReader, error) {
	f, err := os.Open(l.path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLines, err)
	}
	info, err := f.Stat()
	if err == nil && (info.Size() != l.size || !info.ModTime().Equal(l.modified)) {
		err = fmt.Errorf("%s has changed since the run began", l.path)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%w: %w", ErrLines, err)
	}
	// Room for the longest line and what ends it.
	return &lineReader{l: l, f: f, r: bufio.NewReaderSize(f, max(1<<16, l.longest+2))}, nil
}

// line returns a line, which is valid until the next call.
func (r *lineReader) line(i int64) ([]byte, error) {
	if mark := i / r.l.stride; i < r.next || r.l.marks[mark] > r.at+farAhead {
		r.next, r.at = mark*r.l.stride, r.l.marks[mark]
		if _, err := r.f.Seek(r.at, io.SeekStart); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrLines, err)
		}
		r.r.Reset(r.f)
	}
	for r.next < i {
		length, _, err := skipLine(r.r)
		if err != nil {
			return nil, r.changed(err)
		}
		r.next, r.at = r.next+1, r.at+length
	}
	line, err := r.r.ReadSlice('\n')
	last := err == io.EOF && i == r.l.count-1 && len(line) > 0
	if err != nil && !last {
		return nil, r.changed(err)
	}
	r.next, r.at = r.next+1, r.at+int64(len(line))
	if !last {
		line = line[:len(line)-1]
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
	}
	if len(line) > r.l.longest {
		return nil, r.changed(errors.New("it is longer than the longest line was"))
	}
	return line, nil
}

func (r *lineReader) changed(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%w: %s, line %d: %w; leave the file alone while the run goes on", ErrLines, r.l.path, r.next+1, err)
}

func (r *lineReader) close() error { return r.f.Close() }
