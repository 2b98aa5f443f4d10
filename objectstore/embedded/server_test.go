package embedded

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"queuebench/objectstore"
)

func TestListensOnLoopbackOnly(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0x", "192.0.2.1:0", "example.org:80", "[::]:0"} {
		if s, err := Start(t.Context(), Options{Dir: t.TempDir(), Addr: addr}); err == nil {
			s.Close()
			t.Errorf("listens on %s", addr)
		}
	}
	s, err := Start(t.Context(), Options{Dir: t.TempDir(), Addr: "localhost:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if host, _, _ := net.SplitHostPort(strings.TrimPrefix(s.Endpoint(), "http://")); host != "127.0.0.1" {
		t.Errorf("listens on %s", s.Endpoint())
	}
	if _, err := Start(t.Context(), Options{Dir: t.TempDir(), Addr: strings.TrimPrefix(s.Endpoint(), "http://")}); err == nil {
		t.Error("a taken port is taken again")
	}
	if _, err := Start(t.Context(), Options{}); err == nil {
		t.Error("starts without a folder")
	}
	for _, name := range []string{"", "..", "a/b", "UPPER", ".uploads"} {
		if err := s.CreateBucket(name); err == nil {
			t.Errorf("makes a bucket %q", name)
		}
	}
}

// What one server stored is there for the next one and for a plain folder,
// with the same ETag.
func TestObjectsOutliveTheServer(t *testing.T) {
	dir := t.TempDir()
	body := []byte("contents")
	s := start(t, dir)
	store, err := s.Open(t.Context(), "bucket", "run")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Put(t.Context(), "a/b", body, objectstore.PutOptions{ContentType: "text/plain"}); err != nil {
		t.Fatal(err)
	}
	first, err := store.Head(t.Context(), "a/b")
	if err != nil || first.ETag != fmt.Sprintf("%x", md5.Sum(body)) {
		t.Errorf("head: %+v, %v", first, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, _, err := store.Get(t.Context(), "a/b"); err == nil {
		t.Error("answers after Close")
	}
	folder, err := objectstore.OpenFolder(s.Folder("bucket"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := folder.Get(t.Context(), "run/a/b"); err != nil || !bytes.Equal(got, body) {
		t.Errorf("the folder has %q, %v", got, err)
	}
	again, err := start(t, dir).Open(t.Context(), "bucket", "run")
	if err != nil {
		t.Fatal(err)
	}
	if second, err := again.Head(t.Context(), "a/b"); err != nil || second != first {
		t.Errorf("head after a restart: %+v, %v; before: %+v", second, err, first)
	}
	// A file that changes under the server has the ETag of its new contents.
	if err := folder.Put(t.Context(), "run/a/b", []byte("CONTENTS"), objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, info, err := again.Get(t.Context(), "a/b"); err != nil || string(got) != "CONTENTS" || info.ETag != fmt.Sprintf("%x", md5.Sum(got)) {
		t.Errorf("get: %q %+v %v", got, info, err)
	}
}

func TestCloseEndsIdleConnectionsAndWaits(t *testing.T) {
	s := start(t, t.TempDir())
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Endpoint(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	if n, err := conn.Read(buf); err != nil || n == 0 {
		t.Fatal(n, err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := conn.Read(buf); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the connection stays open")
			}
			return
		}
	}
}

func TestMetadataAndCopy(t *testing.T) {
	s := start(t, t.TempDir())
	c := minioClient(t, s, false)
	ctx := t.Context()
	opt := minio.PutObjectOptions{ContentType: "text/css", ContentEncoding: "gzip", UserMetadata: map[string]string{"Colour": "blue"}}
	if _, err := c.PutObject(ctx, "bucket", "a b+c", strings.NewReader("xyz"), 3, opt); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CopyObject(ctx, minio.CopyDestOptions{Bucket: "bucket", Object: "copy"}, minio.CopySrcOptions{Bucket: "bucket", Object: "a b+c"}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a b+c", "copy"} {
		info, err := c.StatObject(ctx, "bucket", key, minio.StatObjectOptions{})
		if err != nil || info.Size != 3 || info.ContentType != "text/css" || info.UserMetadata["Colour"] != "blue" || info.Metadata.Get("Content-Encoding") != "gzip" {
			t.Errorf("%q: %+v, %v", key, info, err)
		}
	}
	if err := c.RemoveBucket(ctx, "bucket"); minio.ToErrorResponse(err).Code != "BucketNotEmpty" {
		t.Errorf("removing a bucket with objects: %v", err)
	}
	if err := c.MakeBucket(ctx, "second", minio.MakeBucketOptions{Region: "eu-west-1"}); err != nil {
		t.Error(err)
	}
	if err := c.MakeBucket(ctx, "second", minio.MakeBucketOptions{}); err == nil {
		t.Error("makes a bucket twice")
	}
	all, err := c.ListBuckets(ctx)
	if err != nil || len(all) != 2 || all[1].Name != "second" {
		t.Errorf("buckets: %+v, %v", all, err)
	}
	if err := c.RemoveBucket(ctx, "second"); err != nil {
		t.Error(err)
	}
	if ok, err := c.BucketExists(ctx, "second"); ok || err != nil {
		t.Errorf("a removed bucket is there: %v, %v", ok, err)
	}
}

// Many writers of one key, each body of one letter: a reader never sees a
// mixture, and never an ETag of other contents.
func TestReadersSeeWholeObjects(t *testing.T) {
	s := start(t, t.TempDir())
	store, err := s.Open(t.Context(), "bucket", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var writers, readers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := range 60 {
				body := bytes.Repeat([]byte{byte('a' + w)}, 200<<10+i%3)
				if err := store.Put(ctx, "k", body, objectstore.PutOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Go(func() {
		for ctx.Err() == nil {
			body, info, err := store.Get(ctx, "k")
			if errors.Is(err, objectstore.ErrNotFound) || errors.Is(err, context.Canceled) {
				continue
			}
			if err != nil || strings.Trim(string(body), string(body[:1])) != "" {
				t.Errorf("%d bytes, %v", len(body), err)
				return
			}
			if info.ETag != fmt.Sprintf("%x", md5.Sum(body)) {
				t.Errorf("ETag %s is not that of the body", info.ETag)
				return
			}
		}
	})
	writers.Wait()
	cancel()
	readers.Wait()
}
