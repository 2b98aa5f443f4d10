package objectstore

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// direct makes the requests of a message's way, the GET and the PUT of a whole
// object in memory, as minio-go does and with its credentials, but without what
// that does for every request anew: the key that signs, options, regular
// expressions over names, retries, all headers of the answer, the XML of a miss.
// Of 7,000 messages of 100 B in a commit these were a seventh of all processor
// time. Whatever is not the usual case goes through minio-go: sessions of S3
// Express, Outposts, anonymous access, keys that have expired.
type direct struct {
	base    *url.URL // of the bucket, ends in a slash
	keys    *credentials.Credentials
	signing signing
}

// newDirect is nil where minio-go has to do all of it. It asks minio-go where
// the bucket's objects are, which sends nothing.
func newDirect(a Address, creds Credentials) *direct {
	endpoint, err := url.Parse(a.endpoint())
	if err != nil || s3utils.IsS3ExpressBucket(a.Bucket) || s3utils.IsAmazonOutpostsEndpoint(*endpoint) || s3utils.IsAmazonExpressRegionalEndpoint(*endpoint) {
		return nil
	}
	core, err := newCore(a, StaticCredentials("no", "keys", ""), http.DefaultTransport)
	if err != nil {
		return nil
	}
	const key = "x"
	u, err := core.PresignedGetObject(context.Background(), a.Bucket, key, time.Hour, nil)
	if err != nil || !strings.HasSuffix(u.Path, "/"+key) || u.RawPath != "" {
		return nil
	}
	return &direct{base: &url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimSuffix(u.Path, key)}, keys: creds.chain, signing: signing{region: a.Region}}
}

// request signs a request for an object; nil where minio-go has to make it.
// header holds what there is beside the signature, in canonical form.
func (d *direct) request(ctx context.Context, method, name string, body []byte, header http.Header) *http.Request {
	if d == nil || d.keys.IsExpired() || s3utils.CheckValidObjectName(name) != nil {
		return nil
	}
	keys, err := d.keys.GetWithContext(nil) // not expired: nothing is asked for
	if err != nil || !keys.SignerType.IsV4() || keys.AccessKeyID == "" || keys.SecretAccessKey == "" {
		return nil
	}
	u := *d.base
	u.Path += name
	if !plainName(name) {
		u.RawPath = d.base.Path + s3utils.EncodePath(name)
	}
	d.signing.sign(method, u.Host, u.EscapedPath(), header, keys.AccessKeyID, keys.SecretAccessKey, keys.SessionToken, time.Now())
	header["User-Agent"] = []string{"queuebench"}
	r := &http.Request{
		Method: method, URL: &u, Host: u.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if len(body) > 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return r.WithContext(ctx)
}

// plainName says that a name is in a URL as it is.
func plainName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.', c == '~', c == '/':
		default:
			return false
		}
	}
	return true
}

// emptySHA256 is the digest of a body that is not there.
const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// directGet reads an object; done is false where minio-go has to.
func (s *s3Store) directGet(ctx context.Context, key string, buf []byte) (body []byte, info Info, done bool, err error) {
	r := s.direct.request(ctx, http.MethodGet, s.prefix+key, nil, http.Header{"X-Amz-Content-Sha256": {emptySHA256}, checksumMode: {"ENABLED"}})
	if r == nil {
		return nil, info, false, nil
	}
	resp, err := s.counting.RoundTrip(r)
	if err != nil {
		return nil, info, true, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, info, true, refused(resp)
	}
	checked := false
	if body, err = readBody(resp.Body, resp.ContentLength, buf); err == nil {
		checked, err = verify(resp.Header, body)
	}
	modified, _ := http.ParseTime(resp.Header.Get("Last-Modified"))
	info = Info{Key: key, Size: int64(len(body)), Modified: modified, ETag: strings.Trim(resp.Header.Get("Etag"), `"`), Checked: checked}
	return body, info, true, err
}

// directPut stores an object; done is false where minio-go has to. crc and,
// if it is not empty, sha are the body's digests.
func (s *s3Store) directPut(ctx context.Context, key string, body []byte, sha, crc string, opt PutOptions) (done bool, err error) {
	header := make(http.Header, 12)
	set := func(name, value string) {
		if value != "" {
			header[name] = []string{value}
		}
	}
	set("Content-Type", cmp.Or(opt.ContentType, "application/octet-stream"))
	set("Content-Encoding", opt.ContentEncoding)
	set("Cache-Control", opt.CacheControl)
	set("X-Amz-Content-Sha256", cmp.Or(sha, "UNSIGNED-PAYLOAD"))
	set("X-Amz-Checksum-Crc32c", crc)
	if opt.IfAbsent {
		set("If-None-Match", "*")
	}
	r := s.direct.request(ctx, http.MethodPut, s.prefix+key, body, header)
	if r == nil {
		return false, nil
	}
	resp, err := s.counting.RoundTrip(r)
	if err != nil {
		return true, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return true, refused(resp)
	}
	// Reading to the end lets the connection be used again. What the store has
	// said is said, whether or not the rest comes.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	return true, nil
}

// maxAnswer is how much of an answer without an object is read, in bytes.
const maxAnswer = 64 << 10

// refused turns an answer that is no success into an error.
func refused(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode == http.StatusNotFound && err == nil && bytes.Contains(body, []byte("<Code>"+minio.NoSuchKey+"</Code>")) {
		return minio.ErrorResponse{StatusCode: resp.StatusCode, Code: minio.NoSuchKey} // a poll that found nothing
	}
	return failureOf(resp, body, err)
}
