package objectstore

import (
	"context"
	"net/http"
)

// Options are what Open needs beyond the address.
type Options struct {
	// Credentials sign the requests to an S3 store. The zero value asks
	// CredentialsFor the backend that the address speaks of: "minio" where it
	// has an endpoint that is not Amazon's, else "s3".
	Credentials Credentials
	// HTTPTransport wraps what sends the requests, for tests that lose,
	// delay or forge answers; nil for nothing. Requests are counted in front
	// of it, as the client sees them.
	HTTPTransport func(http.RoundTripper) http.RoundTripper
	// CAFile is a PEM file of certificate authorities to trust beside the
	// system's.
	CAFile string
	// Insecure takes any certificate.
	Insecure bool
	// Durability is what a caller knows of an S3 store's promise; empty for
	// what its address tells.
	Durability string
}

// Open opens the store at an address; see Address for the forms that it has.
// It sends nothing but, for a bucket of Amazon S3 without a region, one request
// that asks for it: CheckBucket tells whether the store is there.
func Open(ctx context.Context, address string, opt Options) (Store, error) {
	a, err := ParseAddress(address)
	if err != nil {
		return nil, err
	}
	return OpenAddress(ctx, a, opt)
}

// OpenAddress is Open for an address that has been parsed.
func OpenAddress(ctx context.Context, a Address, opt Options) (Store, error) {
	if a.IsFolder() {
		return OpenFolder(a.Folder)
	}
	return openS3(ctx, a, opt)
}
