package embedded

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/johannesboyne/gofakes3"
	"github.com/minio/crc64nvme"
)

// body reads the bytes of an object or a document out of a request. It ends
// with io.EOF only when as many bytes came as were announced and every digest
// that came with them is right; what is stored has been read to that point.
type body struct {
	r       io.Reader
	left    int64 // bytes that are still to come
	checks  []check
	chunked *chunkReader // nil for a plain body
	end     error        // after the last byte
}

// check is a digest and what it must be.
type check struct {
	name    string
	hash    hash.Hash
	want    []byte
	trailer bool // want is still to come
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksums are S3's, by the end of their header's name.
var checksums = map[string]func() hash.Hash{
	"crc32":     func() hash.Hash { return crc32.NewIEEE() },
	"crc32c":    func() hash.Hash { return crc32.New(castagnoli) },
	"sha1":      sha1.New,
	"sha256":    sha256.New,
	"crc64nvme": func() hash.Hash { return crc64nvme.New() },
}

const checksumHeader = "X-Amz-Checksum-"

// newBody reads the headers of a request, and rewrites those of the transfer:
// what is behind it sees a plain body.
func newBody(r *http.Request) (*body, error) {
	b := &body{r: r.Body, left: r.ContentLength}
	if r.ContentLength < 0 {
		return nil, gofakes3.ErrMissingContentLength
	}
	sha := r.Header.Get("X-Amz-Content-Sha256")
	var err error
	switch {
	case strings.HasPrefix(sha, "STREAMING-"):
		err = b.setChunked(r, sha)
	case sha != "" && sha != "UNSIGNED-PAYLOAD":
		err = b.add("x-amz-content-sha256", sha256.New(), sha, hex.DecodeString)
	case hasAWSChunked(r.Header):
		err = malformed("Content-Encoding says aws-chunked, and x-amz-content-sha256 does not")
	}
	if err != nil {
		return nil, err
	}
	if _, ok := r.Header["Content-Md5"]; ok {
		if err := b.add("Content-MD5", md5.New(), r.Header.Get("Content-Md5"), base64.StdEncoding.DecodeString); err != nil {
			return nil, err
		}
	}
	for name := range r.Header {
		algorithm, ok := strings.CutPrefix(name, checksumHeader)
		if !ok {
			continue
		}
		algorithm = strings.ToLower(algorithm)
		if algorithm == "type" || algorithm == "algorithm" || algorithm == "mode" {
			continue
		}
		h, ok := checksums[algorithm]
		if !ok {
			return nil, &refusal{http.StatusNotImplemented, "NotImplemented", "the embedded store does not know the checksum " + algorithm}
		}
		if r.Method == http.MethodPost && r.URL.Query().Has("uploadId") {
			continue // of the whole object, not of this document
		}
		if err := b.add(strings.ToLower(name), h(), r.Header.Get(name), base64.StdEncoding.DecodeString); err != nil {
			return nil, err
		}
	}
	r.Header.Del("X-Amz-Content-Sha256")
	r.Header.Del("Content-Md5")
	r.ContentLength = b.left
	r.Header.Set("Content-Length", strconv.FormatInt(b.left, 10))
	return b, nil
}

// add adds a digest that is known before the body.
func (b *body) add(name string, h hash.Hash, value string, decode func(string) ([]byte, error)) error {
	want, err := decode(value)
	if err != nil || len(want) != h.Size() {
		return &refusal{http.StatusBadRequest, "InvalidDigest", name + " is no digest of this kind"}
	}
	b.checks = append(b.checks, check{name: name, hash: h, want: want})
	return nil
}

// hasAWSChunked says whether a body claims to be in chunks.
func hasAWSChunked(h http.Header) bool {
	return strings.Contains(strings.ToLower(strings.Join(h["Content-Encoding"], ",")), "aws-chunked")
}

// setChunked reads a body in S3's own chunks ("Signature Calculations for the
// Authorization Header: Transferring Payload in Multiple Chunks").
func (b *body) setChunked(r *http.Request, sha string) error {
	signed := true
	switch sha {
	case "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER":
	case "STREAMING-UNSIGNED-PAYLOAD-TRAILER":
		signed = false
	default:
		return &refusal{http.StatusNotImplemented, "NotImplemented", "the embedded store does not know " + sha}
	}
	length, err := strconv.ParseInt(r.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64)
	if err != nil || length < 0 {
		return malformed("x-amz-decoded-content-length is no length")
	}
	b.left = length
	b.chunked = newChunkReader(r.Body, signed)
	b.r = b.chunked
	for name := range strings.SplitSeq(strings.Join(r.Header["X-Amz-Trailer"], ","), ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		algorithm, _ := strings.CutPrefix(textproto.CanonicalMIMEHeaderKey(name), checksumHeader)
		h, ok := checksums[strings.ToLower(algorithm)]
		if !ok || !strings.HasSuffix(sha, "-TRAILER") {
			return &refusal{http.StatusNotImplemented, "NotImplemented", "the embedded store does not know the trailer " + name}
		}
		b.checks = append(b.checks, check{name: strings.ToLower(name), hash: h(), trailer: true})
	}
	r.Header.Del("X-Amz-Trailer")
	r.Header.Del("X-Amz-Decoded-Content-Length")
	dropAWSChunked(r.Header)
	return nil
}

// dropAWSChunked leaves the encodings that belong to the object.
func dropAWSChunked(h http.Header) {
	var kept []string
	for e := range strings.SplitSeq(strings.Join(h["Content-Encoding"], ","), ",") {
		if e = strings.TrimSpace(e); e != "" && !strings.EqualFold(e, "aws-chunked") {
			kept = append(kept, e)
		}
	}
	h.Del("Content-Encoding")
	if len(kept) > 0 {
		h.Set("Content-Encoding", strings.Join(kept, ","))
	}
}

func (b *body) Read(p []byte) (int, error) {
	if b.end != nil {
		return 0, b.end
	}
	n, err := b.r.Read(p)
	for i := range b.checks {
		b.checks[i].hash.Write(p[:n])
	}
	if b.left -= int64(n); b.left < 0 {
		b.end = malformed("the body is longer than was announced")
		return 0, b.end
	}
	if err == nil {
		return n, nil
	}
	b.end = err
	if errors.Is(err, io.EOF) {
		b.end = b.finish()
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		b.end = incomplete()
	}
	return n, b.end
}

// finish compares all that was announced, and is io.EOF when it is right.
func (b *body) finish() error {
	if b.left > 0 {
		return incomplete()
	}
	for _, c := range b.checks {
		if c.trailer {
			value, ok := b.chunked.trailer[c.name]
			want, err := base64.StdEncoding.DecodeString(value)
			if !ok || err != nil {
				return malformed("the trailer " + c.name + " is missing or no digest")
			}
			c.want = want
		}
		if !bytes.Equal(c.hash.Sum(nil), c.want) {
			return gofakes3.ErrorMessage(gofakes3.ErrBadDigest, "the body is not what "+c.name+" says")
		}
	}
	return io.EOF
}

func incomplete() error {
	return gofakes3.ErrorMessage(gofakes3.ErrIncompleteBody, "the body is shorter than was announced")
}

func malformed(what string) error {
	return gofakes3.ErrorMessage(gofakes3.ErrIncompleteBody, what)
}
