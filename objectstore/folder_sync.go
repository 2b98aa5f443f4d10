package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// copyExactly copies size bytes, and fails if r has fewer or more.
func copyExactly(ctx context.Context, w io.Writer, r io.Reader, size int64) error {
	n, err := io.CopyBuffer(onlyWriter{w}, io.LimitReader(&contextReader{ctx, r}, size), make([]byte, min(max(size, 512), 256<<10)))
	switch {
	case err != nil:
		return err
	case n < size:
		return fmt.Errorf("the body ended after %d of %d bytes: %w", n, size, io.ErrUnexpectedEOF)
	}
	var one [1]byte
	switch extra, err := io.ReadFull(r, one[:]); {
	case extra > 0:
		return fmt.Errorf("the body is longer than the %d bytes that were announced", size)
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

// onlyWriter hides ReadFrom, which would take over the copying.
type onlyWriter struct{ io.Writer }

// contextReader ends a long copy when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// syncFolders flushes the folder that got a new name, and those above it as long
// as their own names may not be on disk: another Put may have made them and not
// have come to that yet.
func (p *folderPut) syncFolders() error {
	for dir := filepath.Dir(p.name); ; dir = filepath.Dir(dir) {
		_, known := p.durable.Load(dir)
		err := syncFolder(p.root, dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the object was deleted already, and its folder with it
		}
		if err != nil {
			return err
		}
		if known || dir == "." {
			break
		}
	}
	for dir := filepath.Dir(p.name); dir != "."; dir = filepath.Dir(dir) {
		p.durable.Store(dir, true)
	}
	return nil
}

func syncFolder(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
