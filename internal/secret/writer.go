package secret

import (
	"bytes"
	"io"
)

// maxHeld is how much of a line without an end is kept, in bytes, before it is
// written.
const maxHeld = 1 << 20

// Writer writes lines without the secrets that are known. What has no line's end
// yet is kept until Flush. It is for one goroutine at a time.
type Writer struct {
	w     io.Writer
	known *Known
	held  []byte
}

// NewWriter writes to w.
func NewWriter(w io.Writer, known *Known) *Writer { return &Writer{w: w, known: known} }

// Write takes all of p.
func (w *Writer) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	end := bytes.LastIndexByte(w.held, '\n') + 1
	if end == 0 && len(w.held) > maxHeld {
		end = len(w.held)
	}
	if end == 0 {
		return len(p), nil
	}
	if err := w.write(end); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what is kept.
func (w *Writer) Flush() error { return w.write(len(w.held)) }

func (w *Writer) write(n int) error {
	if n == 0 {
		return nil
	}
	_, err := io.WriteString(w.w, w.known.Strike(string(w.held[:n])))
	w.held = append(w.held[:0], w.held[n:]...)
	return err
}
