package objectstore_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"queuebench/objectstore"
)

// sentRequests keeps requests, and answers as a store that has everything.
type sentRequests struct {
	mu     sync.Mutex
	all    []*http.Request
	bodies []string
}

func (s *sentRequests) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all, s.bodies = append(s.all, r), append(s.bodies, body)
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: 4, Request: r,
		Header: http.Header{"Etag": {`"tag"`}, "Last-Modified": {"Fri, 02 Jan 2026 03:04:05 GMT"}, "Content-Length": {"4"}},
		Body:   io.NopCloser(strings.NewReader("body")),
	}, nil
}

func (s *sentRequests) last() (*http.Request, string) {
	return s.all[len(s.all)-1], s.bodies[len(s.bodies)-1]
}

// The requests that do without minio-go's client are those that it would send,
// to the byte of the signature.
func TestDirectRequestsAreThoseOfMinioGo(t *testing.T) {
	const access, secret = "AKID", "a secret"
	for _, c := range []struct {
		address, endpoint, region string
		lookup                    minio.BucketLookupType
		token                     string
	}{
		{"s3://bucket/p?region=eu-north-1", "https://s3.amazonaws.com", "eu-north-1", minio.BucketLookupDNS, ""},
		{"s3://bucket/p?region=eu-north-1&path-style=true", "https://s3.amazonaws.com", "eu-north-1", minio.BucketLookupPath, "a token"},
		{"s3://dotted.bucket/p?region=us-east-1&path-style=true", "https://s3.amazonaws.com", "us-east-1", minio.BucketLookupPath, ""},
		{"s3://bucket/p?endpoint=http://store.test:9000", "http://store.test:9000", "us-east-1", minio.BucketLookupPath, "a token"},
		{"s3://bucket/p?endpoint=http://store.test:80&region=home", "http://store.test:80", "home", minio.BucketLookupPath, ""},
		{"s3://bucket/p?endpoint=https://store.test&path-style=false", "https://store.test", "us-east-1", minio.BucketLookupDNS, ""},
		{"s3://bucket/p?endpoint=http://127.0.0.1:7070", "http://127.0.0.1:7070", "us-east-1", minio.BucketLookupPath, ""},
		{"s3://bucket/p?endpoint=http://[::1]:7070", "http://[::1]:7070", "us-east-1", minio.BucketLookupPath, ""},
	} {
		theirs, ours := &sentRequests{}, &sentRequests{}
		scheme, host, _ := strings.Cut(c.endpoint, "://")
		core, err := minio.NewCore(host, &minio.Options{
			Creds: credentials.NewStaticV4(access, secret, c.token), Secure: scheme == "https",
			Transport: theirs, Region: c.region, BucketLookup: c.lookup, MaxRetries: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		store, err := objectstore.Open(t.Context(), c.address, objectstore.Options{
			Credentials:   objectstore.StaticCredentials(access, secret, c.token),
			HTTPTransport: func(http.RoundTripper) http.RoundTripper { return ours },
		})
		if err != nil {
			t.Fatal(err)
		}
		bucket, _, _ := strings.Cut(strings.TrimPrefix(c.address, "s3://"), "/")
		// The first request fetches the keys, through minio-go.
		if _, _, err := store.Get(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"plain-key_1.~/b.json", "with space", "a+b", "50%", "ümlaut/日本", "q?x=1&y", "#", "a=b,c;d:e@f", "'\"<>(*)!$"} {
			compare := func(what string, call func() error, theirCall func() error) {
				t.Helper()
				for range 5 { // the second may change in between
					if err := call(); err != nil {
						t.Fatalf("%s %s of %q: %v", c.address, what, key, err)
					}
					if err := theirCall(); err != nil {
						t.Fatal(err)
					}
					a, body := ours.last()
					b, theirBody := theirs.last()
					if a.Header.Get("X-Amz-Date") != b.Header.Get("X-Amz-Date") {
						continue
					}
					if a.Header.Get("User-Agent") != "queuebench" {
						t.Fatalf("%s of %q went through minio-go", what, key)
					}
					a.Header.Del("User-Agent")
					b.Header.Del("User-Agent")
					if a.Method != b.Method || a.URL.String() != b.URL.String() || a.Host != b.Host || a.ContentLength != b.ContentLength || body != theirBody {
						t.Errorf("%s of %q: %s %s at %s, %d bytes; minio-go's: %s %s at %s, %d bytes", what, key, a.Method, a.URL, a.Host, a.ContentLength, b.Method, b.URL, b.Host, b.ContentLength)
					}
					if !maps.EqualFunc(a.Header, b.Header, slices.Equal) {
						t.Errorf("%s of %q:\n%v, minio-go's:\n%v", what, key, a.Header, b.Header)
					}
					return
				}
				t.Fatal("no two requests within a second")
			}
			compare("GET", func() error { _, _, err := store.Get(t.Context(), key); return err }, func() error {
				r, _, _, err := core.GetObject(t.Context(), bucket, "p/"+key, minio.GetObjectOptions{Checksum: true})
				if err == nil {
					r.Close()
				}
				return err
			})
			for _, opt := range []objectstore.PutOptions{{}, {IfAbsent: true, ContentType: "application/json"}, {ContentEncoding: "gzip", CacheControl: "no-cache"}} {
				for _, body := range []string{"some bytes", ""} {
					put := func() error { return store.Put(t.Context(), key, []byte(body), opt) }
					compare("PUT", put, func() error {
						sent, _ := ours.last()
						o := minio.PutObjectOptions{ContentType: opt.ContentType, ContentEncoding: opt.ContentEncoding, CacheControl: opt.CacheControl, DisableMultipart: true, DisableContentSha256: true}
						if crc := sent.Header.Get("X-Amz-Checksum-Crc32c"); crc != "" {
							o.UserMetadata = map[string]string{"x-amz-checksum-crc32c": crc}
						}
						if opt.IfAbsent {
							o.SetMatchETagExcept("*")
						}
						sha := sent.Header.Get("X-Amz-Content-Sha256")
						if sha == "UNSIGNED-PAYLOAD" {
							sha = ""
						}
						_, err := core.PutObject(t.Context(), bucket, "p/"+key, bytes.NewReader([]byte(body)), int64(len(body)), "", sha, o)
						return err
					})
				}
			}
		}
	}
}

// Who signs nothing is left to minio-go.
func TestAnonymousRequestsGoThroughMinioGo(t *testing.T) {
	sent := &sentRequests{}
	store, err := objectstore.Open(t.Context(), "s3://bucket/p?endpoint=http://store.test", objectstore.Options{
		Credentials: objectstore.Anonymous(), HTTPTransport: func(http.RoundTripper) http.RoundTripper { return sent },
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if body, _, err := store.Get(t.Context(), "k"); err != nil || string(body) != "body" {
			t.Errorf("%q, %v", body, err)
		}
		if err := store.Put(t.Context(), "k", []byte("x"), objectstore.PutOptions{}); err != nil {
			t.Error(err)
		}
	}
	for _, r := range sent.all {
		if !strings.Contains(r.Header.Get("User-Agent"), "minio-go") || r.Header.Get("Authorization") != "" {
			t.Errorf("%s with %v", r.Method, r.Header)
		}
	}
	if len(sent.all) != 6 {
		t.Errorf("%d requests", len(sent.all))
	}
}
