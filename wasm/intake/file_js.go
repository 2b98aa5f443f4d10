package main

import (
	"errors"
	"fmt"
	"io"
	"syscall/js"
)

// window is how much is copied at once from JavaScript at least, as long as the
// file has it: each copy crosses over to the page's side, which costs more than
// its bytes do below about a megabyte.
const window = 1 << 20

// object is a file of the page. Reading it is synchronous, which workers may do:
// a Go callback that waited for a promise would wait for ever.
type object struct {
	name string
	size int64
	read js.Value // (offset, length) → Uint8Array; it throws where the file cannot be read
	w    *windows
	at   int64  // of buf
	buf  []byte // nil where another object has it
}

// windows are the buffers of all objects of an opening: a log has more parts
// than are read at a time.
type windows struct{ used []*object }

// mostWindows bounds them: some 2 MB for the rows of producers and consumers
// each, and a few beside them.
const mostWindows = 8

// take gives a buffer of n bytes to o, that of the object that waits the longest
// where there are enough.
func (w *windows) take(o *object, n int) {
	for i, u := range w.used {
		if u == o {
			w.used = append(w.used[:i], w.used[i+1:]...)
			break
		}
	}
	if len(w.used) == mostWindows {
		if o.buf == nil {
			o.buf = w.used[0].buf
		}
		w.used[0].buf = nil
		w.used = append(w.used[:0], w.used[1:]...)
	}
	w.used = append(w.used, o)
	if cap(o.buf) < n {
		o.buf = make([]byte, max(n, window))
	}
	o.buf = o.buf[:n]
}

// ReadAt implements io.ReaderAt.
func (o *object) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 || offset >= o.size {
		return 0, io.EOF
	}
	want := int64(len(p))
	if offset+want > o.size {
		want, err = o.size-offset, io.EOF
	}
	if want >= window {
		return int(want), errors.Join(o.fetch(p[:want], offset), err)
	}
	if o.buf == nil || offset < o.at || offset+want > o.at+int64(len(o.buf)) {
		o.w.take(o, int(min(window, o.size-offset)))
		if err := o.fetch(o.buf, offset); err != nil {
			o.buf = o.buf[:0]
			return 0, err
		}
		o.at = offset
	}
	return copy(p[:want], o.buf[offset-o.at:]), err
}

// fetch fills p.
func (o *object) fetch(p []byte, offset int64) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(js.Error)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("%s could not be read at byte %d (%s): if it was changed, moved or is a link, open it again", o.name, offset, e.Get("message").String())
		}
	}()
	data := o.read.Invoke(offset, len(p))
	if n := js.CopyBytesToGo(p, data); n != len(p) {
		return fmt.Errorf("%s ended at byte %d of %d: it was changed while it was read, open it again", o.name, offset+int64(n), o.size)
	}
	return nil
}

// Size implements rawlog.Object.
func (o *object) Size() int64 { return o.size }

// Close implements rawlog.Object.
func (o *object) Close() error { return nil }
