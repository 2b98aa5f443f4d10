package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
)

// Open opens an object for reading at any offset; the caller closes it.
func (f *Folder) Open(ctx context.Context, key string) (*os.File, Info, error) {
	file, info, err := f.open(ctx, key)
	if err != nil {
		return nil, Info{}, f.countGet(key, err)
	}
	f.get.Add(1)
	return file, info, nil
}

// countGet counts a failed reading: a miss where nothing was there.
func (f *Folder) countGet(key string, err error) error {
	err = f.fail("get", key, err)
	if errors.Is(err, ErrNotFound) {
		f.miss.Add(1)
	} else {
		f.get.Add(1)
	}
	return err
}

func (f *Folder) open(ctx context.Context, key string) (*os.File, Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, Info{}, err
	}
	name, err := f.path(key)
	if err != nil {
		return nil, Info{}, err
	}
	root, err := f.base(false)
	if err != nil {
		return nil, Info{}, err
	}
	// A named pipe in the folder must not hang the reader.
	file, err := root.OpenFile(name, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, Info{}, err
	}
	stat, err := file.Stat()
	if err == nil && !stat.Mode().IsRegular() {
		err = ErrFolderKey
	}
	if err != nil {
		file.Close()
		return nil, Info{}, err
	}
	return file, infoOf(key, stat), nil
}

func infoOf(key string, stat fs.FileInfo) Info {
	// Not a digest of the contents: those would have to be read for it.
	tag := strconv.FormatInt(stat.ModTime().UnixNano(), 16) + "-" + strconv.FormatInt(stat.Size(), 16) + "-" + strconv.FormatUint(fileID(stat), 16)
	return Info{Key: key, Size: stat.Size(), Modified: stat.ModTime(), ETag: tag}
}

// Get returns the whole object.
func (f *Folder) Get(ctx context.Context, key string) ([]byte, Info, error) {
	return f.GetInto(ctx, key, nil)
}

// GetInto is Get into the memory of buf.
func (f *Folder) GetInto(ctx context.Context, key string, buf []byte) ([]byte, Info, error) {
	file, info, err := f.Open(ctx, key)
	if err != nil {
		return nil, Info{}, err
	}
	defer file.Close()
	body := sized(buf, info.Size)
	if _, err := io.ReadFull(file, body); err != nil {
		return nil, Info{}, f.fail("get", key, err)
	}
	return body, info, nil
}

// sized is size bytes of buf, where it has so many, else new ones.
func sized(buf []byte, size int64) []byte {
	if buf != nil && int64(cap(buf)) >= size {
		return buf[:size]
	}
	return make([]byte, size)
}

// GetRange returns length bytes from offset, fewer only at the end.
func (f *Folder) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, Info, error) {
	if offset < 0 || length < 0 {
		return nil, Info{}, &Error{Op: "get", Object: f.prefix + key, Cause: fmt.Errorf("a range of %d bytes from %d does not exist", length, offset)}
	}
	file, info, err := f.Open(ctx, key)
	if err != nil {
		return nil, Info{}, err
	}
	defer file.Close()
	body := make([]byte, max(0, min(length, info.Size-offset)))
	n, err := file.ReadAt(body, offset)
	if err != nil && !(errors.Is(err, io.EOF) && n == len(body)) {
		return nil, Info{}, f.fail("get", key, err)
	}
	return body, info, nil
}

// Head tells an object's Info.
func (f *Folder) Head(ctx context.Context, key string) (Info, error) {
	f.head.Add(1)
	file, info, err := f.open(ctx, key)
	if err != nil {
		return Info{}, f.fail("head", key, err)
	}
	return info, file.Close()
}
