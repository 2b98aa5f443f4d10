package objectstore

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// defaultRegion signs requests to servers that do not care about regions.
const defaultRegion = "us-east-1"

// s3Store is a bucket of an S3-compatible store. Each verb but List is exactly
// one request, which is never tried again here, but with new keys where the store
// refused the old ones.
type s3Store struct {
	*s3Client
	prefix string // "" or ends in a slash
	bad    error
}

// s3Client is what a store shares with its Subs.
type s3Client struct {
	counters
	core      *minio.Core
	direct    *direct // nil where all goes through core
	counting  *countingTransport
	renewal   renewal
	addr      Address // without the prefix
	transport *http.Transport
	promise   string // Options.Durability
	// privateWay: see Put.
	privateWay bool
}

func openS3(ctx context.Context, a Address, opt Options) (*s3Store, error) {
	fail := func(err error, hint string) error {
		return &Error{Op: "open", Object: a.String(), Cause: err, Hint: hint}
	}
	c := &s3Client{addr: a, promise: opt.Durability, privateWay: privateWay(a.endpoint())}
	var err error
	if c.transport, err = newTransport(opt, &c.counters); err != nil {
		return nil, fail(err, "")
	}
	var inner http.RoundTripper = c.transport
	if opt.HTTPTransport != nil {
		inner = opt.HTTPTransport(inner)
	}
	c.counting = &countingTransport{next: inner, counts: &c.counters}
	creds := opt.Credentials
	if creds.IsZero() {
		if creds, err = CredentialsFor(backendOf(a), nil); err != nil {
			return nil, fail(err, "")
		}
	}
	if a.Region == "" && a.IsExpress() && a.Endpoint == "" {
		return nil, fail(errors.New("a bucket of S3 Express has an endpoint of its zone and region, and the region is not known"), "name it: …&region=us-east-1")
	}
	if a.Region == "" {
		if c.addr.Region, err = findRegion(ctx, a, c.counting); err != nil {
			return nil, fail(err, "name it: …&region=us-east-1")
		}
	}
	if c.core, err = newCore(c.addr, creds, c.counting); err != nil {
		return nil, fail(err, "")
	}
	c.direct = newDirect(c.addr, creds)
	c.renewal.keys = creds.chain
	s := &s3Store{s3Client: c, prefix: joinPrefix("", a.Prefix)}
	c.addr.Prefix = ""
	if err := checkMinioBucket(a.Bucket); err != nil {
		return nil, fail(err, "rename the bucket")
	}
	return s, nil
}

func newCore(a Address, creds Credentials, transport http.RoundTripper) (*minio.Core, error) {
	scheme, host, _ := strings.Cut(a.endpoint(), "://")
	if s3utils.IsAmazonExpressZonalEndpoint(url.URL{Host: host}) {
		// The client derives the zone from the bucket's name, and knows only the
		// endpoint of the region for that.
		host = "s3express-control." + a.Region + ".amazonaws.com"
	}
	lookup := minio.BucketLookupDNS
	if a.PathStyle() {
		lookup = minio.BucketLookupPath
	}
	core, err := minio.NewCore(host, &minio.Options{
		Creds:        creds.chain,
		Secure:       scheme == "https",
		Transport:    transport,
		Region:       a.Region, // else each first use of a bucket asks for it
		BucketLookup: lookup,
		// With its retries a response that is lost after the commit comes
		// back as 412, over the caller's own object.
		MaxRetries: 1,
	})
	if err == nil && a.IsExpress() {
		core.SetS3EnableDualstack(false) // the endpoint that S3 documents for a zone
	}
	return core, err
}

// Sub is the same bucket below a further prefix.
func (s *s3Store) Sub(prefix string) Store {
	sub := &s3Store{s3Client: s.s3Client, prefix: joinPrefix(s.prefix, prefix), bad: s.bad}
	if sub.bad == nil && sub.prefix != "" {
		sub.bad = checkKey(strings.TrimSuffix(sub.prefix, "/"))
	}
	return sub
}

// Address is what Open takes.
func (s *s3Store) Address() string {
	a := s.addr
	a.Prefix = strings.TrimSuffix(s.prefix, "/")
	return a.String()
}

// Durability passes on what is known of the store's promise.
func (s *s3Store) Durability() string {
	if s.promise != "" {
		return s.promise
	}
	if s.addr.Endpoint == "" || isAmazon(s.addr.Endpoint) {
		return "A stored object was acknowledged by Amazon S3, which has then stored it redundantly."
	}
	return "A stored object was acknowledged by the S3-compatible server at " + s.addr.Endpoint + "; how safe it is then is that server's promise."
}

// Requests are those of the store and of all its Subs.
func (s *s3Store) Requests() Counts { return s.snapshot() }

// Close ends idle connections.
func (s *s3Store) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// call makes a request, which may be made twice, and explains its failure.
func (s *s3Store) call(ctx context.Context, op, key string, request func(ctx context.Context) error) error {
	err := s.bad
	if err == nil && op == "put" {
		err = checkKey(key)
	} else if err == nil {
		err = checkForeignKey(key)
	}
	if err == nil {
		err = checkText(s.prefix + key)
	}
	if err != nil {
		return &Error{Op: op, Object: s.object(key), Cause: err}
	}
	renewed := s.renewal.done()
	if err = attempted(ctx, request); keysRefused(err) && s.renewal.renew(ctx, renewed) {
		err = attempted(ctx, request)
	}
	if err == nil {
		return nil
	}
	return s.fail(op, key, err)
}

// attempted is a request and what truly happened to it.
func attempted(ctx context.Context, request func(ctx context.Context) error) error {
	ctx, a := withAttempt(ctx)
	defer a.cancel()
	err := request(ctx)
	if err != nil && a.err != nil {
		return a.err
	}
	return err
}
