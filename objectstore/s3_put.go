package objectstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/minio/minio-go/v7"
)

// maxPut is the largest object that S3 takes in a single PUT, in bytes.
const maxPut = 5 << 30

// Put stores a whole object in one request.
func (s *s3Store) Put(ctx context.Context, key string, body []byte, opt PutOptions) error {
	sum := sha256.Sum256(body)
	return s.put(ctx, key, bytes.NewReader(body), int64(len(body)), sum[:], opt)
}

// PutFile stores what r holds, up to 5 GiB, in one request. It reads r twice:
// the digest that the store checks goes ahead of the body.
func (s *s3Store) PutFile(ctx context.Context, key string, r io.ReaderAt, size int64, opt PutOptions) error {
	refuse := func(err error) error { return &Error{Op: "put", Object: s.object(key), Cause: err} }
	switch {
	case opt.IfAbsent:
		return refuse(errConditionalFile)
	case size > maxPut:
		return refuse(fmt.Errorf("it has %d bytes, and a single PUT takes at most 5 GiB", size))
	case size < 0:
		return refuse(errors.New("its size is negative"))
	}
	hash := sha256.New()
	n, err := io.Copy(hash, &contextReader{ctx, io.NewSectionReader(r, 0, size)})
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return refuse(err)
	}
	return s.put(ctx, key, io.NewSectionReader(r, 0, size), size, hash.Sum(nil), opt)
}

// put sends a plain body of known size with its SHA-256, which the store
// verifies: cheaper for both sides than a signature for each chunk.
func (s *s3Store) put(ctx context.Context, key string, r io.Reader, size int64, sum []byte, opt PutOptions) error {
	opts := minio.PutObjectOptions{
		ContentType:          opt.ContentType,
		ContentEncoding:      opt.ContentEncoding,
		CacheControl:         opt.CacheControl,
		DisableMultipart:     true,
		DisableContentSha256: true, // of chunks; the whole has its own
	}
	if opt.IfAbsent {
		opts.SetMatchETagExcept("*")
	}
	return s.call(ctx, "put", key, func(ctx context.Context) error {
		_, err := s.core.PutObject(ctx, s.addr.Bucket, s.prefix+key, r, size, "", hex.EncodeToString(sum), opts)
		return err
	})
}

// Delete removes an object.
func (s *s3Store) Delete(ctx context.Context, key string) error {
	err := s.call(ctx, "delete", key, func(ctx context.Context) error {
		return s.core.RemoveObject(ctx, s.addr.Bucket, s.prefix+key, minio.RemoveObjectOptions{})
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
