package objectstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"
)

// maxPut is the largest object that S3 takes in a single PUT, in bytes.
const maxPut = 5 << 30

// defaultRegion signs requests to servers that do not care about regions.
const defaultRegion = "us-east-1"

// s3Store is a bucket of an S3-compatible store. Each verb but List is exactly
// one request, which is never tried again here.
type s3Store struct {
	*s3Client
	prefix string // "" or ends in a slash
	bad    error
}

// s3Client is what a store shares with its Subs.
type s3Client struct {
	counters
	core      *minio.Core
	addr      Address // without the prefix
	transport *http.Transport
	promise   string // Options.Durability
}

func openS3(ctx context.Context, a Address, opt Options) (*s3Store, error) {
	fail := func(err error, hint string) error {
		return &Error{Op: "open", Object: a.String(), Cause: err, Hint: hint}
	}
	c := &s3Client{addr: a, promise: opt.Durability}
	var err error
	if c.transport, err = newTransport(opt, &c.counters); err != nil {
		return nil, fail(err, "")
	}
	var inner http.RoundTripper = c.transport
	if opt.HTTPTransport != nil {
		inner = opt.HTTPTransport(inner)
	}
	counting := &countingTransport{next: inner, counts: &c.counters}
	creds := opt.Credentials
	if creds.IsZero() {
		if creds, err = CredentialsFor(backendOf(a), nil); err != nil {
			return nil, fail(err, "")
		}
	}
	if a.Region == "" {
		if c.addr.Region, err = findRegion(ctx, a, counting); err != nil {
			return nil, fail(err, "name it: …&region=us-east-1")
		}
	}
	if c.core, err = newCore(c.addr, creds, counting); err != nil {
		return nil, fail(err, "")
	}
	s := &s3Store{s3Client: c, prefix: joinPrefix("", a.Prefix)}
	c.addr.Prefix = ""
	if err := checkMinioBucket(a.Bucket); err != nil {
		return nil, fail(err, "rename the bucket")
	}
	return s, nil
}

func newCore(a Address, creds Credentials, transport http.RoundTripper) (*minio.Core, error) {
	scheme, host, _ := strings.Cut(a.endpoint(), "://")
	lookup := minio.BucketLookupDNS
	if a.PathStyle() {
		lookup = minio.BucketLookupPath
	}
	return minio.NewCore(host, &minio.Options{
		Creds:        creds.chain,
		Secure:       scheme == "https",
		Transport:    transport,
		Region:       a.Region, // else each first use of a bucket asks for it
		BucketLookup: lookup,
		// With its retries a response that is lost after the commit comes
		// back as 412, over the caller's own object.
		MaxRetries: 1,
	})
}

// Sub is the same bucket below a further prefix.
func (s *s3Store) Sub(prefix string) Store {
	sub := &s3Store{s3Client: s.s3Client, prefix: joinPrefix(s.prefix, prefix), bad: s.bad}
	if sub.bad == nil && sub.prefix != "" {
		sub.bad = checkKey(strings.TrimSuffix(sub.prefix, "/"))
	}
	return sub
}

// Address is what Open takes.
func (s *s3Store) Address() string {
	a := s.addr
	a.Prefix = strings.TrimSuffix(s.prefix, "/")
	return a.String()
}

// Durability passes on what is known of the store's promise.
func (s *s3Store) Durability() string {
	if s.promise != "" {
		return s.promise
	}
	if s.addr.Endpoint == "" || isAmazon(s.addr.Endpoint) {
		return "A stored object was acknowledged by Amazon S3, which has then stored it redundantly."
	}
	return "A stored object was acknowledged by the S3-compatible server at " + s.addr.Endpoint + "; how safe it is then is that server's promise."
}

// Requests are those of the store and of all its Subs.
func (s *s3Store) Requests() Counts { return s.snapshot() }

// Close ends idle connections.
func (s *s3Store) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// call makes one request and explains its failure.
func (s *s3Store) call(ctx context.Context, op, key string, request func(ctx context.Context) error) error {
	err := s.bad
	if err == nil && op == "put" {
		err = checkKey(key)
	} else if err == nil {
		err = checkForeignKey(key)
	}
	if err == nil {
		err = checkText(s.prefix + key)
	}
	if err != nil {
		return &Error{Op: op, Object: s.object(key), Cause: err}
	}
	ctx, a := withAttempt(ctx)
	defer a.cancel()
	if err = request(ctx); err == nil {
		return nil
	}
	if a.err != nil {
		err = a.err
	}
	return s.fail(op, key, err)
}

// Get returns the whole object.
func (s *s3Store) Get(ctx context.Context, key string) ([]byte, Info, error) {
	return s.get(ctx, key, minio.GetObjectOptions{})
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
	body, info, err := s.get(ctx, key, opts)
	if isRangePastEnd(err) {
		// The answer tells the size in a header that the client drops.
		return []byte{}, Info{Key: key, Size: -1}, nil
	}
	if int64(len(body)) > length && info.Size >= int64(len(body)) && length > 0 {
		return nil, Info{}, &Error{Op: "get", Object: s.object(key), Cause: errors.New("the store answered a range with more than was asked for"), Hint: "it does not honour Range"}
	}
	return body[:min(int64(len(body)), length)], info, err
}

func (s *s3Store) get(ctx context.Context, key string, opts minio.GetObjectOptions) (body []byte, info Info, err error) {
	err = s.call(ctx, "get", key, func(ctx context.Context) error {
		r, stat, header, err := s.core.GetObject(ctx, s.addr.Bucket, s.prefix+key, opts)
		if err != nil {
			return err
		}
		defer r.Close()
		info = Info{Key: key, Size: totalSize(header, stat.Size), Modified: stat.LastModified, ETag: stat.ETag}
		body, err = readBody(r, stat.Size)
		return err
	})
	if err != nil {
		return nil, Info{}, err
	}
	return body, info, nil
}

// readBody reads exactly the announced size, without growing as it goes.
func readBody(r io.Reader, size int64) ([]byte, error) {
	if size < 0 || size > 1<<40 {
		return io.ReadAll(r)
	}
	// A size that is a lie must not take the memory before the bytes are there.
	if size > 64<<20 {
		var b bytes.Buffer
		n, err := b.ReadFrom(r)
		if err == nil && n != size {
			err = io.ErrUnexpectedEOF
		}
		return b.Bytes(), err
	}
	body := make([]byte, size)
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
