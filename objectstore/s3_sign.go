package objectstore

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// signing makes signatures of version 4 (Amazon S3 API Reference,
// "Authenticating Requests: Using the Authorization Header"). The key of a day
// is made once; minio-go makes it for each request, and five times the garbage.
type signing struct {
	region string
	key    atomic.Pointer[signingKey]
}

// signingKey is what signs the requests of a day and a secret.
type signingKey struct {
	day, secret string
	key         []byte
}

const (
	signAlgorithm = "AWS4-HMAC-SHA256"
	signedDay     = "20060102"
	signedTime    = "20060102T150405Z"
)

func hmacSHA256(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func (s *signing) keyOf(day, secret string) []byte {
	if k := s.key.Load(); k != nil && k.day == day && k.secret == secret {
		return k.key
	}
	key := []byte("AWS4" + secret)
	for _, part := range []string{day, s.region, "s3", "aws4_request"} {
		key = hmacSHA256(key, part)
	}
	s.key.Store(&signingKey{day, secret, key})
	return key
}

// sign adds X-Amz-Date, the session's token and Authorization to the headers of
// a request without a query. path is percent-encoded; all of header is signed,
// and has its names in canonical form and X-Amz-Content-Sha256 in it.
func (s *signing) sign(method, host, path string, header http.Header, access, secret, token string, now time.Time) {
	now = now.UTC()
	stamp := now.Format(signedTime)
	day := stamp[:len(signedDay)]
	header["X-Amz-Date"] = []string{stamp}
	if token != "" {
		header["X-Amz-Security-Token"] = []string{token}
	}
	type field struct{ name, value string }
	fields := make([]field, 1, 16)
	fields[0] = field{"host", host}
	for name, values := range header {
		fields = append(fields, field{strings.ToLower(name), trimmed(strings.Join(values, ","))})
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.name, b.name) })
	names := make([]byte, 0, 256)
	request := make([]byte, 0, 1024)
	request = append(append(append(append(request, method...), '\n'), path...), "\n\n"...)
	for i, f := range fields {
		if i > 0 {
			names = append(names, ';')
		}
		names = append(names, f.name...)
		request = append(append(append(append(request, f.name...), ':'), f.value...), '\n')
	}
	request = append(append(append(append(request, '\n'), names...), '\n'), header["X-Amz-Content-Sha256"][0]...)
	digest := sha256.Sum256(request)
	scope := day + "/" + s.region + "/s3/aws4_request"
	signature := hmacSHA256(s.keyOf(day, secret), signAlgorithm+"\n"+stamp+"\n"+scope+"\n"+hex.EncodeToString(digest[:]))
	header["Authorization"] = []string{signAlgorithm + " Credential=" + access + "/" + scope + ", SignedHeaders=" + string(names) + ", Signature=" + hex.EncodeToString(signature)}
}

// trimmed is a header's value as it is signed: without space around it, and
// with single ones in it.
func trimmed(value string) string {
	if !strings.ContainsAny(value, " \t\r\n\v\f\u0085\u00a0") {
		return value
	}
	return strings.Join(strings.Fields(value), " ")
}
