package embedded

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/objectstore"
)

func start(t testing.TB, dir string) *Server {
	t.Helper()
	s, err := Start(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	return s
}

// key is the server's access key, as its guard knows it.
func (s *Server) key() string { return s.http.Handler.(*guard).accessKey }

// raw sends the bytes of a request as they are and reads the answer. Of
// "@auth" it makes the header that names the key. The request is half closed
// after it, so that a short body ends there.
func raw(t *testing.T, s *Server, request string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Endpoint(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	request = strings.ReplaceAll(request, "@auth", "Authorization: AWS4-HMAC-SHA256 Credential="+s.key()+"/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0")
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	if strings.HasPrefix(request, "GET /bucket") || resp.StatusCode == http.StatusForbidden {
		if resp.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("a browser may take this for a page: %v", resp.Header)
		}
	}
	for name := range resp.Header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("answers a web page: %s", name)
		}
	}
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(all)
}

// files are all regular files below a folder, with their contents.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// put is a PUT of bucket/key with more headers and a body.
func put(key, headers, body string) string {
	return "PUT /bucket/" + key + " HTTP/1.1\r\nHost: localhost\r\n@auth\r\n" + headers + "\r\n" + body
}

func length(n int) string { return fmt.Sprintf("Content-Length: %d\r\n", n) }

func TestHostileRequestsAreRefusedAndStoreNothing(t *testing.T) {
	outer := t.TempDir()
	if err := os.WriteFile(filepath.Join(outer, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, filepath.Join(outer, "store"))
	if err := os.Symlink(outer, filepath.Join(s.Folder("bucket"), "link")); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("other"))
	wrongMD5 := base64.StdEncoding.EncodeToString(md5.New().Sum(nil))
	signature := ";chunk-signature=" + strings.Repeat("a", 64)
	chunked := func(decoded int, body string) string {
		return length(len(body)) + "X-Amz-Content-Sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\nContent-Encoding: aws-chunked\r\n" + fmt.Sprintf("X-Amz-Decoded-Content-Length: %d\r\n", decoded)
	}
	chunkPut := func(decoded int, body string) string { return put("x", chunked(decoded, body), body) }
	trailerPut := func(kind, trailer, body string) string {
		return put("x", length(len(body))+"X-Amz-Content-Sha256: "+kind+"\r\nX-Amz-Decoded-Content-Length: 3\r\nX-Amz-Trailer: "+trailer+"\r\n", body)
	}
	end := "\r\n0" + signature + "\r\n\r\n"
	unsigned := "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
	for _, c := range []struct {
		name, request string
		status        int // 0: any of 4xx, or no answer at all
	}{
		{"traversal", put("../../secret", length(3), "abc"), 400},
		{"traversal, encoded", put("%2e%2e/%2e%2e/secret", length(3), "abc"), 400},
		{"traversal, slash encoded", put("..%2f..%2fsecret", length(3), "abc"), 400},
		{"traversal in the bucket", strings.Replace(put("secret", length(3), "abc"), "/bucket/", "/%2e%2e/", 1), 400},
		{"traversal, twice encoded bucket", strings.Replace(put("secret", length(3), "abc"), "/bucket/", "/..%2f..%2f/", 1), 400},
		{"absolute key", put("/etc/x", length(3), "abc"), 400},
		{"empty element", put("a//b", length(3), "abc"), 400},
		{"dot element", put("a/./b", length(3), "abc"), 400},
		{"key that ends in a slash", put("a/", length(3), "abc"), 400},
		{"NUL", put("a%00b", length(3), "abc"), 400},
		{"control character", put("a%01b", length(3), "abc"), 400},
		{"not UTF-8", put("a%ff", length(3), "abc"), 400},
		{"temporary name", put(".queuebench-put-x", length(3), "abc"), 400},
		{"through a link", put("link/secret", length(3), "abc"), 0},
		{"read through a link", "GET /bucket/link/secret HTTP/1.1\r\nHost: localhost\r\n@auth\r\n\r\n", 0},
		{"read by traversal", "GET /bucket/..%2f..%2fsecret HTTP/1.1\r\nHost: localhost\r\n@auth\r\n\r\n", 400},
		{"uploads as a bucket", "GET /.uploads/x HTTP/1.1\r\nHost: localhost\r\n@auth\r\n\r\n", 400},
		{"truncated body", put("x", length(10), "abc"), 400},
		{"truncated body of nothing", put("x", length(10), ""), 400},
		{"two lengths", put("x", length(3)+length(4), "abcd"), 400},
		{"length and transfer encoding", put("x", length(3)+"Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"), 0},
		{"no length", put("x", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"), 411},
		{"negative length", put("x", "Content-Length: -1\r\n", "abc"), 400},
		{"wrong MD5", put("x", length(3)+"Content-MD5: "+wrongMD5+"\r\n", "abc"), 400},
		{"MD5 that is none", put("x", length(3)+"Content-MD5: abc\r\n", "abc"), 400},
		{"empty MD5", put("x", length(3)+"Content-MD5:\r\n", "abc"), 400},
		{"wrong SHA-256", put("x", length(3)+"X-Amz-Content-Sha256: "+hex.EncodeToString(sum[:])+"\r\n", "abc"), 400},
		{"wrong SHA-256 of nothing", put("x", length(0)+"X-Amz-Content-Sha256: "+hex.EncodeToString(sum[:])+"\r\n", ""), 400},
		{"wrong checksum", put("x", length(3)+"X-Amz-Checksum-Crc32: AAAAAA==\r\n", "abc"), 400},
		{"unknown checksum", put("x", length(3)+"X-Amz-Checksum-Xxhash3: AAAAAA==\r\n", "abc"), 501},
		{"chunks without their header", put("x", length(3)+"Content-Encoding: aws-chunked\r\n", "abc"), 400},
		{"chunk shorter than its size", chunkPut(3, "4"+signature+"\r\nabc"+end), 400},
		{"chunk longer than its size", chunkPut(3, "2"+signature+"\r\nabc"+end), 400},
		{"chunks shorter than announced", chunkPut(4, "3"+signature+"\r\nabc"+end), 400},
		{"chunks longer than announced", chunkPut(2, "3"+signature+"\r\nabc"+end), 400},
		{"no last chunk", chunkPut(3, "3"+signature+"\r\nabc\r\n"), 400},
		{"truncated in a chunk", put("x", length(500)+"X-Amz-Content-Sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\nX-Amz-Decoded-Content-Length: 3\r\n", "3"+signature+"\r\na"), 400},
		{"no signature", chunkPut(3, "3\r\nabc\r\n0\r\n\r\n"), 400},
		{"short signature", chunkPut(3, "3;chunk-signature=aa\r\nabc"+end), 400},
		{"size that is none", chunkPut(3, "z"+signature+"\r\nabc"+end), 400},
		{"huge size", chunkPut(3, "ffffffffffffffff"+signature+"\r\nabc"+end), 400},
		{"endless chunk header", chunkPut(3, strings.Repeat("0", 5000)+signature+"\r\nabc"+end), 400},
		{"decoded length that is none", put("x", length(3)+"X-Amz-Content-Sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\nX-Amz-Decoded-Content-Length: x\r\n", "abc"), 400},
		{"unknown streaming", put("x", length(3)+"X-Amz-Content-Sha256: STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD\r\nX-Amz-Decoded-Content-Length: 3\r\n", "abc"), 501},
		{"wrong trailer", trailerPut(unsigned, "x-amz-checksum-crc32", "3\r\nabc\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"), 400},
		{"missing trailer", trailerPut(unsigned, "x-amz-checksum-crc32", "3\r\nabc\r\n0\r\n\r\n"), 400},
		{"trailer that is none", trailerPut(unsigned, "x-amz-checksum-crc32", "3\r\nabc\r\n0\r\nrubbish\r\n\r\n"), 400},
		{"unknown trailer", trailerPut(unsigned, "x-other", "3\r\nabc\r\n0\r\nx-other:1\r\n\r\n"), 501},
		{"foreign host", strings.Replace(put("x", length(3), "abc"), "localhost", "evil.example", 1), 403},
		{"host that begins like loopback", strings.Replace(put("x", length(3), "abc"), "localhost", "127.0.0.1.evil.example", 1), 403},
		{"foreign page", put("x", length(3)+"Origin: https://evil.example\r\n", "abc"), 403},
		{"page without an origin", put("x", length(3)+"Origin: null\r\n", "abc"), 403},
		{"cross-site", put("x", length(3)+"Sec-Fetch-Site: cross-site\r\n", "abc"), 403},
		{"no key", strings.Replace(put("x", length(3), "abc"), "@auth\r\n", "", 1), 403},
		{"wrong key", strings.Replace(put("x", length(3), "abc"), "@auth", "Authorization: AWS4-HMAC-SHA256 Credential=other/1/2/s3/aws4_request", 1), 403},
		{"ACL", put("x?acl", length(3), "abc"), 501},
		{"tags", put("x?tagging", length(3), "abc"), 501},
		{"version", put("x?versionId=1", length(3), "abc"), 501},
		{"other condition", put("x", length(3)+"If-None-Match: \"abc\"\r\n", "abc"), 501},
		{"If-Match", put("x", length(3)+"If-Match: *\r\n", "abc"), 501},
		{"conditional copy", put("x", length(0)+"If-None-Match: *\r\nX-Amz-Copy-Source: /bucket/y\r\n", ""), 501},
		{"bucket policy", "PUT /bucket?policy HTTP/1.1\r\nHost: localhost\r\n@auth\r\n" + length(2) + "\r\n{}", 501},
		{"form", "POST /bucket HTTP/1.1\r\nHost: localhost\r\n@auth\r\nContent-Type: multipart/form-data; boundary=b\r\n" + length(0) + "\r\n", 501},
		{"conditional completion", "POST /bucket/x?uploadId=1 HTTP/1.1\r\nHost: localhost\r\n@auth\r\nIf-None-Match: *\r\n" + length(0) + "\r\n", 501},
		{"method", "PATCH /bucket/x HTTP/1.1\r\nHost: localhost\r\n@auth\r\n" + length(0) + "\r\n", 405},
		{"no bucket", strings.Replace(put("x", length(3), "abc"), "/bucket/", "/buckets/", 1), 404},
		{"force", "DELETE /bucket HTTP/1.1\r\nHost: localhost\r\n@auth\r\nX-Minio-Force-Delete: true\r\n\r\n", 501},
		{"not HTTP", "hello\r\n\r\n", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := raw(t, s, c.request)
			if c.status != 0 && status != c.status || status >= 200 && status < 400 || strings.Contains(body, ">secret") || body == "secret" {
				t.Errorf("answered %d %s, want %d", status, body, c.status)
			}
			if found := files(t, s.dir); len(found) != 0 {
				t.Errorf("stored %q", found)
			}
		})
	}
	if b, err := os.ReadFile(filepath.Join(outer, "secret")); err != nil || string(b) != "secret" {
		t.Errorf("outside of the store: %q, %v", b, err)
	}
}

func TestGoodBodiesAreStoredAsTheyAre(t *testing.T) {
	s := start(t, t.TempDir())
	signature := ";chunk-signature=" + strings.Repeat("0", 64)
	crc := crc32.NewIEEE()
	crc.Write([]byte("abcdef"))
	sum := base64.StdEncoding.EncodeToString(crc.Sum(nil))
	md := md5.Sum([]byte("abcdef"))
	two := "2" + signature + "\r\nab\r\n4" + signature + "\r\ncdef\r\n0" + signature + "\r\n"
	streaming := func(kind, more, body string) string {
		return put("x", length(len(body))+"X-Amz-Content-Sha256: "+kind+"\r\nX-Amz-Decoded-Content-Length: 6\r\nContent-Encoding: aws-chunked\r\n"+more, body)
	}
	for name, request := range map[string]string{
		"plain":            put("x", length(6)+"Content-MD5: "+base64.StdEncoding.EncodeToString(md[:])+"\r\nX-Amz-Checksum-Crc32: "+sum+"\r\n", "abcdef"),
		"chunks":           streaming("STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "", two+"\r\n"),
		"signed trailer":   streaming("STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", "X-Amz-Trailer: x-amz-checksum-crc32\r\n", two+"x-amz-checksum-crc32:"+sum+"\n\r\nx-amz-trailer-signature:"+strings.Repeat("0", 64)+"\r\n\r\n"),
		"unsigned trailer": streaming("STREAMING-UNSIGNED-PAYLOAD-TRAILER", "X-Amz-Trailer: x-amz-checksum-crc32\r\n", "6\r\nabcdef\r\n0\r\nx-amz-checksum-crc32:"+sum+"\r\n\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(filepath.Join(s.Folder("bucket"), "x")); err != nil {
				t.Fatal(err)
			}
			if status, body := raw(t, s, request); status != 200 {
				t.Fatalf("answered %d %s", status, body)
			}
			if got := files(t, s.dir); got["bucket/x"] != "abcdef" || len(got) != 1 {
				t.Errorf("stored %q", got)
			}
		})
	}
	if status, body := raw(t, s, "GET /bucket/x HTTP/1.1\r\nHost: LOCALHOST:80\r\n@auth\r\nOrigin: http://127.0.0.1:8080\r\n\r\n"); status != 200 || body != "abcdef" {
		t.Errorf("a page on loopback reads %d %q", status, body)
	}
	presigned := "GET /bucket/x?X-Amz-Credential=" + url.QueryEscape(s.key()+"/1/2/s3/aws4_request") + " HTTP/1.1\r\nHost: [::1]:9\r\n\r\n"
	if status, body := raw(t, s, presigned); status != 200 || body != "abcdef" {
		t.Errorf("a signed address reads %d %q", status, body)
	}
}

func TestWrongDocumentHasNoEffect(t *testing.T) {
	s := start(t, t.TempDir())
	store, err := s.Open(t.Context(), "bucket", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Put(t.Context(), "x", []byte("x"), objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	doc := `<Delete><Object><Key>x</Key></Object><Object><Key>../bucket/x</Key></Object></Delete>`
	post := func(headers string, n int) string {
		return "POST /bucket?delete HTTP/1.1\r\nHost: localhost\r\n@auth\r\n" + headers + length(n) + "\r\n" + doc
	}
	if status, _ := raw(t, s, post("Content-MD5: "+base64.StdEncoding.EncodeToString(make([]byte, 16))+"\r\n", len(doc))); status != 400 {
		t.Errorf("a document with a wrong MD5 is answered %d", status)
	}
	if status, _ := raw(t, s, post("", len(doc)+1)); status != 400 {
		t.Errorf("a truncated document is answered %d", status)
	}
	if got := files(t, s.dir); len(got) != 1 {
		t.Errorf("a wrong document deleted: %q", got)
	}
	status, body := raw(t, s, post("", len(doc)))
	if status != 200 || !strings.Contains(body, "<Key>x</Key>") || !strings.Contains(body, "InvalidArgument") {
		t.Errorf("answered %d %s", status, body)
	}
	if got := files(t, s.dir); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
}

func FuzzChunks(f *testing.F) {
	signature := ";chunk-signature=" + strings.Repeat("0", 64)
	f.Add([]byte("3"+signature+"\r\nabc\r\n0"+signature+"\r\n\r\n"), true)
	f.Add([]byte("3\r\nabc\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"), false)
	f.Add([]byte("ffffffffffffffffff\r\n"), false)
	f.Fuzz(func(t *testing.T, in []byte, signed bool) {
		out, err := io.ReadAll(newChunkReader(bytes.NewReader(in), signed))
		if len(out) > len(in) {
			t.Fatalf("made %d bytes of %d (%v)", len(out), len(in), err)
		}
		// Whatever it decodes comes out the same in smaller reads.
		small, smallErr := io.ReadAll(oneByte{newChunkReader(bytes.NewReader(in), signed)})
		if !bytes.Equal(out, small) || (err == nil) != (smallErr == nil) {
			t.Fatalf("%q %v, byte by byte %q %v", out, err, small, smallErr)
		}
	})
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(1, len(p))]) }
