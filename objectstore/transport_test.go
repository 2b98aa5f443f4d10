package objectstore

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

// written is a connection that keeps what is written to it.
type written struct {
	net.Conn
	calls int
	bytes.Buffer
}

func (w *written) Read(p []byte) (int, error) { return w.Buffer.Read(p) }
func (w *written) Write(p []byte) (int, error) {
	w.calls++
	return w.Buffer.Write(p)
}

// A body in memory is one write, and never longer than was announced.
func TestBodyIsWrittenWhole(t *testing.T) {
	const size = 1 << 20
	for name, c := range map[string]struct {
		body   io.Reader
		length int64
		calls  int // 0 for any number
		want   int
		err    error
	}{
		"in memory":         {strings.NewReader(strings.Repeat("x", size)), size, 1, size, nil},
		"longer":            {strings.NewReader(strings.Repeat("x", size)), size - 1, 0, 0, errLongBody},
		"shorter":           {strings.NewReader(strings.Repeat("x", size)), size + 1, 1, size, nil},
		"not in memory":     {io.NewSectionReader(strings.NewReader(strings.Repeat("x", size)), 0, size), size, 0, size, nil},
		"not, and longer":   {io.NewSectionReader(strings.NewReader(strings.Repeat("x", size)), 0, size), size - 1, 0, size - 1, nil},
		"behind a NopClose": {io.NopCloser(bytes.NewReader(make([]byte, size))), size, 1, size, nil},
	} {
		w := &written{}
		conn := &countedConn{Conn: w}
		limited := &io.LimitedReader{R: c.body, N: c.length}
		n, err := conn.ReadFrom(limited)
		if !errors.Is(err, c.err) || n != int64(c.want) || w.Len() != c.want || c.calls > 0 && w.calls != c.calls {
			t.Errorf("%s: %d bytes in %d writes, told as %d: %v", name, w.Len(), w.calls, n, err)
		}
		if err == nil && limited.N != c.length-n {
			t.Errorf("%s: %d of %d bytes are said to be left", name, limited.N, c.length)
		}
	}
	w := &written{}
	if n, err := (&countedConn{Conn: w}).ReadFrom(strings.NewReader("plain")); err != nil || n != 5 || w.String() != "plain" {
		t.Errorf("a plain reader: %q, %d, %v", w.String(), n, err)
	}
}
