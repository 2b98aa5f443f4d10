package objectstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/url"

	"github.com/minio/minio-go/v7"
)

// maxPut is the largest object that S3 takes in a single PUT, in bytes.
const maxPut = 5 << 30

// Put stores a whole object in one request. Where nobody can change it on the
// way (TLS, or a server on this machine) the body goes with its CRC-32C, which
// is itself signed, instead of a SHA-256, which costs as much as all the rest of
// a large request: 74 ns for 104 bytes.
func (s *s3Store) Put(ctx context.Context, key string, body []byte, opt PutOptions) error {
	var sha, crc string
	if s.privateWay {
		crc = crc32c(body)
	} else {
		sum := sha256.Sum256(body)
		sha = hex.EncodeToString(sum[:])
	}
	done := false
	err := s.call(ctx, "put", key, func(ctx context.Context) (err error) {
		done, err = s.directPut(ctx, key, body, sha, crc, opt)
		return err
	})
	if !done && err == nil {
		return s.put(ctx, key, bytes.NewReader(body), int64(len(body)), sha, crc, opt)
	}
	return err
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc32c is a body's checksum as the header x-amz-checksum-crc32c has it.
func crc32c(body []byte) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.Checksum(body, castagnoli)))
}

// privateWay says that what is sent to an endpoint is out of the reach of others
// until it is there.
func privateWay(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
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
	return s.put(ctx, key, io.NewSectionReader(r, 0, size), size, hex.EncodeToString(hash.Sum(nil)), "", opt)
}

// put sends a plain body of known size with its SHA-256 or its CRC-32C, which
// the store verifies: cheaper for both sides than a signature for each chunk.
func (s *s3Store) put(ctx context.Context, key string, r io.Reader, size int64, sha, crc string, opt PutOptions) error {
	opts := minio.PutObjectOptions{
		ContentType:          opt.ContentType,
		ContentEncoding:      opt.ContentEncoding,
		CacheControl:         opt.CacheControl,
		DisableMultipart:     true,
		DisableContentSha256: true, // of chunks; the whole has its own
	}
	if crc != "" {
		opts.UserMetadata = map[string]string{"x-amz-checksum-crc32c": crc}
	}
	if opt.IfAbsent {
		opts.SetMatchETagExcept("*")
	}
	return s.call(ctx, "put", key, func(ctx context.Context) error {
		_, err := s.core.PutObject(ctx, s.addr.Bucket, s.prefix+key, r, size, "", sha, opts)
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
