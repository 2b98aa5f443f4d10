package objectstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/minio/minio-go/v7"
)

// object names an object in messages.
func (s *s3Store) object(key string) string {
	where := "s3://" + s.addr.Bucket + "/" + s.prefix + key
	if s.addr.Endpoint != "" {
		where += " at " + s.addr.Endpoint
	}
	return where
}

// fail explains an error of a request.
func (s *s3Store) fail(op, key string, err error) error {
	e := &Error{Op: op, Object: s.object(key), Cause: err}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return e
	}
	var damaged *damagedError
	if errors.As(err, &damaged) {
		s.failed.Add(1)
		e.Kind, e.Hint = ErrDamaged, "a byte was changed on the way or in the store; where this stays so, the stored object is damaged"
		return e
	}
	var resp minio.ErrorResponse
	if !errors.As(err, &resp) {
		e.Hint = s.transportHint(err)
		return e
	}
	e.Hint, e.Kind = s.classify(op, resp)
	e.Cause = &responseError{resp}
	if e.Kind == ErrNotFound || e.Kind == ErrExists || e.Kind == ErrNoBucket {
		e.Cause = nil // says nothing that the kind does not
	}
	return e
}

// responseError is a store's answer as one line: status, code and words.
type responseError struct{ minio.ErrorResponse }

func (e *responseError) Error() string {
	var parts []string
	if e.StatusCode != 0 {
		parts = append(parts, fmt.Sprint(e.StatusCode))
	}
	if e.Code != "" && !strings.HasPrefix(e.Code, fmt.Sprint(e.StatusCode)) {
		parts = append(parts, e.Code)
	}
	return strings.Join(append(parts, e.Message), " ")
}

func (e *responseError) Unwrap() error { return e.ErrorResponse }

// classify names the kind of an answer and what to do about it.
func (s *s3Store) classify(op string, r minio.ErrorResponse) (hint string, kind error) {
	status := r.StatusCode
	switch r.Code {
	case minio.NoSuchBucket:
		return "create the bucket " + s.addr.Bucket + " first, or name another one", ErrNoBucket
	case "InvalidAccessKeyId", "XAdminUserNotFound": // the second is versitygw's, with status 404
		return "the store does not know this access key: check the credentials in the environment", ErrDenied
	case "SignatureDoesNotMatch":
		return "the secret key does not fit the access key, or a proxy changed the request: check the credentials in the environment", ErrDenied
	case "RequestTimeTooSkewed":
		return "the clocks of this host and of the store differ too much: set them", ErrDenied
	case "ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired":
		return "the session has ended: get new credentials", ErrDenied
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "InvalidRegion", "TemporaryRedirect", "IllegalLocationConstraintException":
		return s.regionHint(r), nil
	case "ExistingObjectIsDirectory", "ObjectParentIsFile":
		return folderKeyHint, nil
	case "XMinioStorageFull", "QuotaExceeded", "XMinioAdminBucketQuotaExceeded":
		return fullHint, ErrFull
	case "NotImplemented":
		return "the store cannot do this: choose one that can, with conditional PUT (If-None-Match)", nil
	}
	switch {
	case status == http.StatusNotFound && op == "list":
		return "check bucket and endpoint: nothing answers there as a bucket", ErrNoBucket
	case status == http.StatusNotFound:
		return "", ErrNotFound
	case status == http.StatusPreconditionFailed:
		return "", ErrExists
	case status == http.StatusConflict:
		return "the same request may be tried again", ErrConflict
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "these credentials do not permit " + permission(op) + " here: check them and the bucket's policy", ErrDenied
	case status == http.StatusInsufficientStorage:
		return fullHint, ErrFull
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		return "send fewer requests, or wait", ErrThrottled
	case status == http.StatusMovedPermanently || status == http.StatusTemporaryRedirect:
		return s.regionHint(r), nil
	case status == http.StatusBadRequest && op == "list" && r.Code != "InvalidArgument":
		return "check that the endpoint speaks S3, and http against https", nil
	}
	return "", nil
}

// permission is the right that an operation needs.
func permission(op string) string {
	switch op {
	case "get", "head":
		return "s3:GetObject (and s3:ListBucket, without which a missing object is answered 403)"
	case "put":
		return "s3:PutObject"
	case "delete":
		return "s3:DeleteObject"
	}
	return "s3:ListBucket"
}

func (s *s3Store) regionHint(r minio.ErrorResponse) string {
	if r.Region != "" && r.Region != s.addr.Region {
		return "the bucket lies in another region: write …?region=" + r.Region
	}
	return "the bucket lies in another region or behind another endpoint than " + s.addr.Region + ": name them with region= and endpoint="
}

// transportHint says what to do when there was no answer at all.
func (s *s3Store) transportHint(err error) string {
	var (
		dns     *net.DNSError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		record  tls.RecordHeaderError
		timeout net.Error
	)
	switch {
	case errors.As(err, &dns):
		return "there is no such host: check the endpoint"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there: start the store, or check the endpoint"
	case errors.As(err, &unknown), errors.As(err, &host):
		return "the server's certificate is not trusted: name the file of its authority"
	case errors.As(err, &record), strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return "the server does not speak TLS there: write http:// in the endpoint"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "there was no answer in time: check endpoint and network"
	}
	return ""
}

// isRangePastEnd says that a range began at or after the end of its object.
func isRangePastEnd(err error) bool {
	var resp minio.ErrorResponse
	return errors.As(err, &resp) && (resp.StatusCode == http.StatusRequestedRangeNotSatisfiable || resp.Code == "InvalidRange")
}
