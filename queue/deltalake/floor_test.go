//go:build unix

package deltalake

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"queuebench/internal/cputimetest"
	"queuebench/internal/versitygw"
)

// BenchmarkFloor is what the requests of BenchmarkCPU cost without a queue and
// without an S3 client, as processor time of a message: for each 7,000 messages
// of 100 B a PUT and a GET of their data file, a PUT and a GET of a version and
// three misses, by net/http alone (the URLs are signed beforehand). No client
// over HTTP can do with less; the store is another process.
func BenchmarkFloor(b *testing.B) {
	server := versitygw.Start(b)
	c, err := minio.New(strings.TrimPrefix(server.Endpoint, "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(server.AccessKey, server.SecretKey, ""), Region: versitygw.Region,
	})
	if err != nil {
		b.Fatal(err)
	}
	urls := map[string]string{}
	for _, key := range []string{"data", "version", "missing"} {
		for _, method := range []string{http.MethodPut, http.MethodGet} {
			u, err := c.Presign(b.Context(), method, server.Bucket, key, time.Hour, nil)
			if err != nil {
				b.Fatal(err)
			}
			urls[method+" "+key] = u.String()
		}
	}
	data, version := make([]byte, 7000*104+500), make([]byte, 700)
	into := make([]byte, len(data))
	request := func(method, key string, body []byte, status int) {
		req, err := http.NewRequest(method, urls[method+" "+key], nil)
		if err != nil {
			b.Fatal(err)
		}
		if body != nil {
			req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		if n := resp.ContentLength; method == http.MethodGet && n > 0 {
			_, err = io.ReadFull(resp.Body, into[:n])
		}
		if _, end := io.Copy(io.Discard, resp.Body); err != nil || end != nil || resp.StatusCode != status {
			b.Fatal(fmt.Errorf("%s of %s: status %d: %w, %w", method, key, resp.StatusCode, err, end))
		}
	}
	run := func(commits int) {
		for range commits {
			request(http.MethodPut, "data", data, http.StatusOK)
			request(http.MethodPut, "version", version, http.StatusOK)
			for range 3 {
				request(http.MethodGet, "missing", nil, http.StatusNotFound)
			}
			request(http.MethodGet, "version", nil, http.StatusOK)
			request(http.MethodGet, "data", nil, http.StatusOK)
		}
	}
	run(20)
	commits := max(1, b.N/7000)
	used := cputimetest.Used(b)
	run(commits)
	b.ReportMetric(float64(cputimetest.Used(b)-used)/float64(7000*commits), "cpu-ns/msg")
	b.ReportMetric(0, "ns/op")
}
