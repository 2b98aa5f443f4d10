package objectstore_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"queuebench/internal/faultproxy"
	"queuebench/internal/versitygw"
	"queuebench/objectstore"
)

// A byte that is changed in an answer is an error of its own and no body, and so is a
// checksum that is not the body's.
func TestAChangedByteIsNoBody(t *testing.T) {
	content := bytes.Repeat([]byte("content "), 1000)
	for name, change := range map[string]func(*http.Response, []byte) []byte{
		"a byte": func(_ *http.Response, b []byte) []byte { b[len(b)/3] ^= 1; return b },
		"a checksum": func(r *http.Response, b []byte) []byte {
			r.Header.Set("X-Amz-Checksum-Crc32c", "AAAAAA==")
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			on := false
			f := &fault{after: func(r *http.Request, resp *http.Response) (*http.Response, error) {
				if !on || r.Method != http.MethodGet || resp.StatusCode != http.StatusOK {
					return resp, nil
				}
				b, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				resp.Body = io.NopCloser(bytes.NewReader(change(resp, b)))
				return resp, err
			}}
			s := faulty(t, f)
			put(t, s, "k", string(content))
			if body, info, err := s.Get(t.Context(), "k"); err != nil || !bytes.Equal(body, content) || !info.Checked {
				t.Fatalf("%d bytes, checked %v, %v", len(body), info.Checked, err)
			}
			on = true
			before := s.Requests().Failed
			body, _, err := s.Get(t.Context(), "k")
			wantErr(t, err, objectstore.ErrDamaged)
			if body != nil || !strings.Contains(err.Error(), "the CRC-32C of the 8000 bytes that came is") {
				t.Errorf("%d bytes, %v", len(body), err)
			}
			if n := s.Requests().Failed - before; n != 1 {
				t.Errorf("%d failed requests were counted", n)
			}
			// A range has no checksum: whoever reads ranges has one in the bytes.
			if b, info, err := s.GetRange(t.Context(), "k", 8, 7); err != nil || string(b) != "content" || info.Checked {
				t.Errorf("a range: %q, checked %v, %v", b, info.Checked, err)
			}
		})
	}
}

// The same through a server that is not ours, which keeps the checksum that an object
// was stored with, by either way of storing it.
func TestAServerTellsTheChecksumOfAnObject(t *testing.T) {
	gw := versitygw.Start(t)
	keys := objectstore.StaticCredentials(gw.AccessKey, gw.SecretKey, "")
	s := open(t, gw.Address("p"), keys)
	put(t, s, "a", "as a body")
	if err := s.PutFile(t.Context(), "f", strings.NewReader("as a file"), 9, objectstore.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	put(t, s, "empty", "")
	for key, want := range map[string]string{"a": "as a body", "f": "as a file", "empty": ""} {
		if b, info, err := s.Get(t.Context(), key); err != nil || string(b) != want || !info.Checked {
			t.Errorf("%s: %q, checked %v, %v", key, b, info.Checked, err)
		}
	}
	for kind := range map[faultproxy.Kind]bool{faultproxy.Damaged: true, faultproxy.Misstated: true} {
		p, err := faultproxy.Start(t.Context(), "127.0.0.1", gw.Endpoint, faultproxy.Plan{Chance: map[faultproxy.Kind]float64{kind: 1}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		bad := open(t, "s3://"+gw.Bucket+"/p?region=us-east-1&endpoint="+p.Endpoint, keys)
		for _, key := range []string{"a", "f"} {
			_, _, err := bad.Get(t.Context(), key)
			wantErr(t, err, objectstore.ErrDamaged)
		}
	}
}
