package objectstore

import (
	"bytes"
	"context"
	"crypto/sha256"
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

// Put stores a whole object in one request. Its CRC-32C goes with it, which is
// itself signed: the store verifies it, keeps it, and tells it to who reads the
// object. Where somebody could change the body on the way (no TLS, and no server on
// this machine) a SHA-256 goes with it, too, which costs as much as all the rest of
// a large request: 74 ns for 104 bytes.
func (s *s3Store) Put(ctx context.Context, key string, body []byte, opt PutOptions) error {
	crc, sha := crc32c(body), ""
	if !s.privateWay {
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
// the digests that the store checks go ahead of the body.
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
	hash, crc := sha256.New(), crc32.New(castagnoli)
	n, err := io.Copy(io.MultiWriter(hash, crc), &contextReader{ctx, io.NewSectionReader(r, 0, size)})
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return refuse(err)
	}
	return s.put(ctx, key, io.NewSectionReader(r, 0, size), size, hex.EncodeToString(hash.Sum(nil)), crcText(crc.Sum32()), opt)
}

// put sends a plain body of known size with its CRC-32C, and its SHA-256 if that is
// not empty, which the store verifies: cheaper for both sides than a signature for each chunk.
func (s *s3Store) put(ctx context.Context, key string, r io.ReadSeeker, size int64, sha, crc string, opt PutOptions) error {
	opts := minio.PutObjectOptions{
		ContentType:          opt.ContentType,
		ContentEncoding:      opt.ContentEncoding,
		CacheControl:         opt.CacheControl,
		DisableMultipart:     true,
		DisableContentSha256: true, // of chunks; the whole has its own
	}
	opts.UserMetadata = map[string]string{"x-amz-checksum-crc32c": crc}
	if opt.IfAbsent {
		opts.SetMatchETagExcept("*")
	}
	return s.call(ctx, "put", key, func(ctx context.Context) error {
		if _, err := r.Seek(0, io.SeekStart); err != nil { // a request before this one may have read it
			return err
		}
		_, err := s.core.PutObject(ctx, s.addr.Bucket, s.prefix+key, r, size, "", sha, opts)
		return err
	})
}
