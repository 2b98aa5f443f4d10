package embedded

import (
	"bytes"
	"crypto/subtle"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/johannesboyne/gofakes3"

	"queuebench/internal/loopback"
)

// maxDocument is the longest XML body that is taken, in bytes.
const maxDocument = 2 << 20

// guard stands in front of gofakes3. It lets pass what gofakes3 does rightly,
// with bodies decoded and verified, and refuses the rest by name: gofakes3
// itself would store an ACL as the object's new contents.
type guard struct {
	next      http.Handler
	accessKey string
}

// refusal is an answer of the guard.
type refusal struct {
	status        int
	code, message string
}

func (e *refusal) Error() string { return e.code + ": " + e.message }

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := g.check(r)
	if err == nil {
		err = prepareBody(r)
	}
	if err != nil {
		refuse(w, r, err)
		return
	}
	plain := &plainWriter{w}
	secure(w.Header())
	g.next.ServeHTTP(plain, r)
	plain.clean() // of an answer without a body, whose header is still to go
}

// check refuses who may not ask, and what is not understood.
func (g *guard) check(r *http.Request) error {
	switch {
	case !loopback.Host(r.Host):
		return &refusal{http.StatusForbidden, "AccessDenied", "this server answers to loopback names only"}
	case loopback.ForeignPage(r.Header):
		return &refusal{http.StatusForbidden, "AccessDenied", "this server does not answer to web pages"}
	case subtle.ConstantTimeCompare([]byte(requestKey(r)), []byte(g.accessKey)) != 1:
		return &refusal{http.StatusForbidden, "InvalidAccessKeyId", "this server knows one access key, made at its start"}
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !strings.HasPrefix(r.URL.Path, "/") || r.URL.Path == "/" && r.Method != http.MethodGet {
		return &refusal{http.StatusBadRequest, "InvalidURI", "this is no address of a bucket or of an object"}
	}
	if bucket != "" {
		if err := gofakes3.ValidateBucketName(bucket); err != nil {
			return &refusal{http.StatusBadRequest, "InvalidBucketName", err.Error()}
		}
	}
	if key != "" && strings.ContainsFunc(key, notInXML) {
		return &refusal{http.StatusBadRequest, "InvalidArgument", "the key holds a character that a listing cannot carry"}
	}
	return checkOperation(r, key)
}

// notInXML says whether a rune does not survive XML 1.0.
func notInXML(r rune) bool {
	return r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFD || r == 0xFFFE || r == 0xFFFF
}

// requestKey is the access key that signed a request.
func requestKey(r *http.Request) string {
	credential := r.URL.Query().Get("X-Amz-Credential")
	if auth := r.Header.Get("Authorization"); auth != "" {
		_, after, _ := strings.Cut(auth, "Credential=")
		credential = after
	}
	key, _, _ := strings.Cut(credential, "/")
	return key
}

// understood are the query parameters that gofakes3 acts on or that change
// nothing. Another one names an operation that it would take for a plain one.
var understood = map[string]bool{
	"list-type": true, "prefix": true, "delimiter": true, "max-keys": true, "marker": true, "start-after": true,
	"continuation-token": true, "encoding-type": true, "fetch-owner": true, "location": true, "x-id": true,
	"uploads": true, "uploadId": true, "partNumber": true, "part-number-marker": true, "max-parts": true,
	"key-marker": true, "upload-id-marker": true, "max-uploads": true, "delete": true,
	"response-content-type": true, "response-content-language": true, "response-expires": true,
	"response-cache-control": true, "response-content-disposition": true, "response-content-encoding": true,
}

func checkOperation(r *http.Request, key string) error {
	notHere := func(what string) error {
		return &refusal{http.StatusNotImplemented, "NotImplemented", "the embedded store does not implement " + what}
	}
	query := r.URL.Query()
	for name := range query {
		if !understood[name] && !strings.HasPrefix(name, "X-Amz-") {
			return notHere("?" + name)
		}
	}
	condition := r.Header.Get("If-Match") != "" || r.Header.Get("If-None-Match") != ""
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodDelete:
		if r.ContentLength != 0 {
			return &refusal{http.StatusBadRequest, "InvalidRequest", r.Method + " takes no body"}
		}
		if condition && r.Method == http.MethodDelete {
			return notHere("a conditional DELETE")
		}
	case http.MethodPut:
		switch {
		case r.Header.Get("If-Match") != "":
			return notHere("If-Match")
		case condition && (r.Header.Get("If-None-Match") != "*" || query.Has("uploadId") || r.Header.Get("X-Amz-Copy-Source") != ""):
			return notHere("this condition; only If-None-Match: * on a plain PUT")
		case query.Has("uploadId") && r.Header.Get("X-Amz-Copy-Source") != "":
			return notHere("UploadPartCopy")
		case key == "" && len(query) > 0 && !query.Has("x-id"):
			return notHere("this operation on a bucket")
		}
	case http.MethodPost:
		switch {
		case condition:
			return notHere("the conditional completion of a multipart upload")
		case !query.Has("delete") && !query.Has("uploads") && !query.Has("uploadId"):
			return notHere("uploads by form")
		}
	default:
		return &refusal{http.StatusMethodNotAllowed, "MethodNotAllowed", "no operation has the method " + strconv.Quote(r.Method)}
	}
	return nil
}

// prepareBody puts a decoded and verified body in the place of the one sent. A
// document is read whole, so that a wrong one has no effect at all.
func prepareBody(r *http.Request) error {
	if r.Method != http.MethodPut && r.Method != http.MethodPost {
		return nil
	}
	body, err := newBody(r)
	if err != nil {
		return err
	}
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if r.Method == http.MethodPost || key == "" || r.Header.Get("X-Amz-Copy-Source") != "" {
		document, err := io.ReadAll(io.LimitReader(body, maxDocument+1))
		switch {
		case err != nil:
			return err
		case len(document) > maxDocument:
			return &refusal{http.StatusBadRequest, "EntityTooLarge", "the document is longer than 2 MiB"}
		}
		r.Body = io.NopCloser(bytes.NewReader(document))
		return nil
	}
	r.Body = io.NopCloser(body)
	return nil
}

// refuse answers with an error in S3's form. The connection is closed where a
// body may still be under way.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	var no *refusal
	if !errors.As(err, &no) {
		no = asRefusal(err)
	}
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	secure(w.Header())
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(no.status)
	if r.Method == http.MethodHead {
		return
	}
	// The client may be gone; there is nobody to tell then.
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}{Code: no.code, Message: no.message})
}

// secure keeps a browser from taking an object for a page of this server.
func secure(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// asRefusal reads an error of gofakes3 or of a connection.
func asRefusal(err error) *refusal {
	var e gofakes3.Error
	if errors.As(err, &e) {
		return &refusal{e.ErrorCode().Status(), string(e.ErrorCode()), e.Error()}
	}
	return &refusal{http.StatusBadRequest, string(gofakes3.ErrIncompleteBody), err.Error()}
}

// plainWriter takes back the permission that gofakes3 gives to every web page.
type plainWriter struct{ http.ResponseWriter }

func (w *plainWriter) WriteHeader(status int) {
	w.clean()
	w.ResponseWriter.WriteHeader(status)
}

func (w *plainWriter) Write(p []byte) (int, error) {
	w.clean()
	return w.ResponseWriter.Write(p)
}

// ReadFrom lets the system copy a file to the connection.
func (w *plainWriter) ReadFrom(r io.Reader) (int64, error) {
	w.clean()
	return io.Copy(w.ResponseWriter, r)
}

func (w *plainWriter) clean() {
	h := w.Header()
	if _, ok := h["Access-Control-Allow-Origin"]; ok {
		for name := range h {
			if strings.HasPrefix(name, "Access-Control-") {
				delete(h, name)
			}
		}
	}
}
