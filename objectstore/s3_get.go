package objectstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"
)

// Get returns the whole object.
func (s *s3Store) Get(ctx context.Context, key string) ([]byte, Info, error) {
	return s.GetInto(ctx, key, nil)
}

// GetInto is Get into the memory of buf.
func (s *s3Store) GetInto(ctx context.Context, key string, buf []byte) (body []byte, info Info, err error) {
	done := false
	err = s.call(ctx, "get", key, func(ctx context.Context) (err error) {
		body, info, done, err = s.directGet(ctx, key, buf)
		return err
	})
	if !done && err == nil {
		opts := minio.GetObjectOptions{}
		opts.Set(checksumMode, "ENABLED")
		return s.get(ctx, key, opts, buf)
	}
	if err != nil {
		return nil, Info{}, err
	}
	return body, info, nil
}

// GetRange returns length bytes from offset, fewer only at the end.
func (s *s3Store) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, Info, error) {
	if offset < 0 || length < 0 {
		return nil, Info{}, &Error{Op: "get", Object: s.object(key), Cause: fmt.Errorf("a range of %d bytes from %d does not exist", length, offset)}
	}
	var opts minio.GetObjectOptions
	// HTTP has no empty range: one byte is asked for and dropped.
	if err := opts.SetRange(offset, offset+max(length, 1)-1); err != nil {
		return nil, Info{}, &Error{Op: "get", Object: s.object(key), Cause: err}
	}
	body, info, err := s.get(ctx, key, opts, nil)
	if isRangePastEnd(err) {
		// The answer tells the size in a header that the client drops.
		return []byte{}, Info{Key: key, Size: -1}, nil
	}
	if int64(len(body)) > length && info.Size >= int64(len(body)) && length > 0 {
		return nil, Info{}, &Error{Op: "get", Object: s.object(key), Cause: errors.New("the store answered a range with more than was asked for"), Hint: "it does not honour Range"}
	}
	return body[:min(int64(len(body)), length)], info, err
}

func (s *s3Store) get(ctx context.Context, key string, opts minio.GetObjectOptions, buf []byte) (body []byte, info Info, err error) {
	err = s.call(ctx, "get", key, func(ctx context.Context) error {
		r, stat, header, err := s.core.GetObject(ctx, s.addr.Bucket, s.prefix+key, opts)
		if err != nil {
			return err
		}
		defer r.Close()
		info = Info{Key: key, Size: totalSize(header, stat.Size), Modified: stat.LastModified, ETag: stat.ETag}
		if body, err = readBody(r, stat.Size, buf); err == nil && header.Get("Content-Range") == "" {
			info.Checked, err = verify(header, body)
		}
		return err
	})
	if err != nil {
		return nil, Info{}, err
	}
	return body, info, nil
}

// readBody reads exactly the announced size, without growing as it goes.
func readBody(r io.Reader, size int64, buf []byte) ([]byte, error) {
	if size < 0 || size > 1<<40 {
		return io.ReadAll(r)
	}
	// A size that is a lie must not take the memory before the bytes are there.
	if size > 64<<20 && size > int64(cap(buf)) {
		var b bytes.Buffer
		n, err := b.ReadFrom(r)
		if err == nil && n != size {
			err = io.ErrUnexpectedEOF
		}
		return b.Bytes(), err
	}
	body := sized(buf, size)
	if _, err := io.ReadFull(r, body); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	// Reading to the end lets the connection be used again.
	if _, err := io.Copy(io.Discard, r); err != nil {
		return nil, err
	}
	return body, nil
}

// totalSize is the size of the whole object, also when a range of it is sent.
func totalSize(header http.Header, size int64) int64 {
	var total int64
	_, after, ok := strings.Cut(header.Get("Content-Range"), "/")
	if _, err := fmt.Sscan(after, &total); !ok || err != nil {
		return size
	}
	return total
}

// Head tells an object's Info.
func (s *s3Store) Head(ctx context.Context, key string) (info Info, err error) {
	err = s.call(ctx, "head", key, func(ctx context.Context) error {
		stat, err := s.core.StatObject(ctx, s.addr.Bucket, s.prefix+key, minio.StatObjectOptions{})
		info = Info{Key: key, Size: stat.Size, Modified: stat.LastModified, ETag: stat.ETag}
		return err
	})
	if err != nil {
		return Info{}, err
	}
	return info, nil
}
