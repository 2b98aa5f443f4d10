package embedded

import (
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
)

// FuzzBody reads bodies behind headers that lie, a "name: value" a line: what ends
// without an error has as many bytes as were announced.
func FuzzBody(f *testing.F) {
	f.Add("", []byte("abc"), int64(3))
	f.Add("Content-Md5: kAFQmDzST7DWlj99KOF/cg==", []byte("abc"), int64(3))
	f.Add("X-Amz-Content-Sha256: ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\nX-Amz-Checksum-Crc32: NSRBwg==", []byte("abc"), int64(3))
	f.Add("X-Amz-Content-Sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\nX-Amz-Decoded-Content-Length: 3\nX-Amz-Trailer: x-amz-checksum-crc32\nContent-Encoding: aws-chunked,gzip",
		[]byte("3\r\nabc\r\n0\r\nx-amz-checksum-crc32:NSRBwg==\r\n\r\n"), int64(45))
	f.Add("X-Amz-Content-Sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\nX-Amz-Decoded-Content-Length: -1", []byte{}, int64(0))
	f.Fuzz(func(t *testing.T, headers string, in []byte, length int64) {
		r := &http.Request{Method: http.MethodPut, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(in)), ContentLength: length}
		for line := range strings.Lines(headers) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
			r.Header.Add(textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value))
		}
		b, err := newBody(r)
		if err != nil {
			return
		}
		if r.ContentLength < 0 || r.ContentLength != b.left {
			t.Fatalf("a body of %d bytes is passed on, of which %d are to come", r.ContentLength, b.left)
		}
		out, err := io.ReadAll(b)
		if len(out) > len(in) || err == nil && int64(len(out)) != r.ContentLength {
			t.Fatalf("%d bytes of %d, announced were %d, %v", len(out), len(in), r.ContentLength, err)
		}
	})
}
