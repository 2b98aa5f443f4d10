package rawlog

import "io"

// Memory is an object that lies in memory. A PartReader reads it in place.
type Memory []byte

// ReadAt implements Object.
func (m Memory) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 || offset >= int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(p, m[offset:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Size implements Object.
func (m Memory) Size() int64 { return int64(len(m)) }

// Bytes is the object itself.
func (m Memory) Bytes() []byte { return m }

// Close implements Object. It does nothing.
func (m Memory) Close() error { return nil }
