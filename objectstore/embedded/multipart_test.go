package embedded

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// minioClient is a client with its own defaults: multipart, signed chunks,
// trailers.
func minioClient(t *testing.T, s *Server, trailers bool) *minio.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := minio.New(strings.TrimPrefix(s.Endpoint(), "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(s.key(), "any", ""), Region: Region, TrailingHeaders: trailers, Transport: transport,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMultipartStoresWhatWasSent(t *testing.T) {
	s := start(t, t.TempDir())
	body := make([]byte, 11<<20+3)
	rand.NewChaCha8([32]byte{7}).Read(body)
	for _, trailers := range []bool{false, true} {
		c := minioClient(t, s, trailers)
		key := fmt.Sprintf("big/%v", trailers)
		if _, err := c.PutObject(t.Context(), "bucket", key, bytes.NewReader(body), int64(len(body)), minio.PutObjectOptions{PartSize: 5 << 20}); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(s.Folder("bucket"), "big", fmt.Sprint(trailers)))
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("trailers %v: %d bytes are not what was sent (%v)", trailers, len(got), err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(s.dir, uploadsDir)); err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		inner, _ := os.ReadDir(filepath.Join(s.dir, uploadsDir, e.Name()))
		return len(inner) > 0
	}) {
		t.Error("parts are left behind")
	}
}

func TestMultipartRefusals(t *testing.T) {
	s := start(t, t.TempDir())
	core := minio.Core{Client: minioClient(t, s, false)}
	ctx := t.Context()
	id, err := core.NewMultipartUpload(ctx, "bucket", "m", minio.PutObjectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	part := func(n int, body string) minio.CompletePart {
		t.Helper()
		p, err := core.PutObjectPart(ctx, "bucket", "m", id, n, strings.NewReader(body), int64(len(body)), minio.PutObjectPartOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return minio.CompletePart{PartNumber: n, ETag: p.ETag}
	}
	one, two := part(1, "one"), part(2, "two")
	refused := func(name string, opt minio.PutObjectOptions, parts ...minio.CompletePart) {
		t.Helper()
		if _, err := core.CompleteMultipartUpload(ctx, "bucket", "m", id, parts, opt); err == nil {
			t.Errorf("completes %s", name)
		}
		if got := files(t, s.Folder("bucket")); len(got) != 0 {
			t.Errorf("%s stored %q", name, got)
		}
	}
	refused("nothing", minio.PutObjectOptions{})
	refused("one part twice", minio.PutObjectOptions{}, one, one)
	refused("the wrong order", minio.PutObjectOptions{}, two, one)
	refused("a missing part", minio.PutObjectOptions{}, one, minio.CompletePart{PartNumber: 3, ETag: one.ETag})
	refused("another ETag", minio.PutObjectOptions{}, minio.CompletePart{PartNumber: 1, ETag: two.ETag})
	var onlyNew minio.PutObjectOptions
	onlyNew.SetMatchETagExcept("*")
	refused("conditionally", onlyNew, one, two)
	one = part(1, "ONE") // again
	listed, err := core.ListObjectParts(ctx, "bucket", "m", id, 0, 10)
	if err != nil || len(listed.ObjectParts) != 2 || listed.ObjectParts[0].Size != 3 {
		t.Errorf("parts: %+v, %v", listed, err)
	}
	if _, err := core.CompleteMultipartUpload(ctx, "bucket", "m", id, []minio.CompletePart{one, two}, minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := files(t, s.Folder("bucket")); got["m"] != "ONEtwo" {
		t.Errorf("stored %q", got)
	}
	if _, err := core.CompleteMultipartUpload(ctx, "bucket", "m", id, []minio.CompletePart{one, two}, minio.PutObjectOptions{}); err == nil {
		t.Error("completes twice")
	}
	id, err = core.NewMultipartUpload(ctx, "bucket", "gone", minio.PutObjectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := core.AbortMultipartUpload(ctx, "bucket", "gone", id); err != nil {
		t.Error(err)
	}
	if _, err := core.PutObjectPart(ctx, "bucket", "gone", id, 1, strings.NewReader("x"), 1, minio.PutObjectPartOptions{}); err == nil {
		t.Error("takes a part of an upload that was given up")
	}
}
