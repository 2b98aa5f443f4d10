package scenario

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// maxLine is the longest line of output that is kept in one piece.
const maxLine = 1024

// output takes what a command prints, line by line, up to a number of bytes. The
// rest is counted.
type output struct {
	tell  func(line string) // a line that is kept
	limit int
	// strike takes secrets out.
	strike func(string) string

	mu      sync.Mutex
	kept    int
	cut     int64 // bytes
	last    []string
	partial []byte
}

// lastLines of the output stand in the error of a command that failed.
const lastLines = 3

func newOutput(limit int, strike func(string) string, tell func(line string)) *output {
	return &output{tell: tell, limit: limit, strike: strike}
}

// copy reads until the end, or until the reader is closed.
func (o *output) copy(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		o.write(buf[:n])
		if err != nil {
			return // io.EOF, or the pipe was closed on purpose
		}
	}
}

func (o *output) write(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(b) > 0 {
		at := bytes.IndexByte(b, '\n')
		take := b
		if at >= 0 {
			take = b[:at]
		}
		room := maxLine - len(o.partial)
		switch {
		case len(take) > room:
			o.partial = append(o.partial, take[:room]...)
			b = b[room:]
			o.lineLocked()
			continue
		case at < 0:
			o.partial = append(o.partial, take...)
			return
		}
		o.partial = append(o.partial, take...)
		b = b[at+1:]
		o.lineLocked()
	}
}

func (o *output) lineLocked() {
	text := strings.ToValidUTF8(strings.TrimRight(string(o.partial), "\r"), "\uFFFD")
	o.partial = o.partial[:0]
	if strings.TrimSpace(text) == "" {
		return
	}
	text = o.strike(text)
	if o.last = append(o.last, text); len(o.last) > lastLines {
		o.last = o.last[1:]
	}
	if o.kept+len(text) > o.limit {
		o.cut += int64(len(text))
		o.limit = o.kept // what follows is cut too: no gaps
		return
	}
	o.kept += len(text)
	o.tell(text)
}

// end tells what was cut.
func (o *output) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.partial) > 0 {
		o.lineLocked()
	}
	if o.cut > 0 {
		o.tell(fmt.Sprintf("… %d more bytes of output were not kept: output: raises the limit", o.cut))
	}
}

// tail is the last of what was printed, for an error.
func (o *output) tail() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.last, " | ")
}
