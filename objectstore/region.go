package objectstore

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// endpoint is the scheme and host to send requests to.
func (a Address) endpoint() string {
	switch zone := a.zone(); {
	case a.Endpoint != "":
		return a.Endpoint
	case zone != "" && a.Region != "":
		return "https://s3express-" + zone + "." + a.Region + ".amazonaws.com"
	}
	return "https://s3.amazonaws.com"
}

// directorySuffix ends the names of buckets of S3 Express One Zone: NAME--ZONE--x-s3.
const directorySuffix = "--x-s3"

// IsExpress says whether the bucket is one of S3 Express One Zone, by its name:
// its LIST has no order and knows no start, its requests have other prices, and
// its endpoint is that of its zone.
func (a Address) IsExpress() bool { return isDirectoryBucket(a.Bucket) }

// zone is the zone of a bucket of S3 Express, as its name has it: use1-az4 of
// queue--use1-az4--x-s3; empty for any other.
func (a Address) zone() string {
	name, ok := strings.CutSuffix(a.Bucket, directorySuffix)
	at := strings.LastIndex(name, "--")
	if !ok || at < 0 {
		return ""
	}
	return name[at+2:]
}

// isAmazon says whether an endpoint is one of Amazon S3.
func isAmazon(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && s3utils.IsAmazonEndpoint(*u)
}

// backendOf is the backend whose credentials an address needs.
func backendOf(a Address) string {
	if a.Endpoint == "" || isAmazon(a.Endpoint) {
		return BackendS3
	}
	return BackendMinIO
}

// checkMinioBucket refuses early what the client would refuse at each request.
func checkMinioBucket(bucket string) error {
	if err := s3utils.CheckValidBucketName(bucket); err != nil {
		return fmt.Errorf("bucket %q: %s", bucket, strings.ToLower(err.Error()))
	}
	return nil
}

// findRegion is the region to sign for where the address has none. Amazon S3
// tells it in the header of any answer about a bucket, a refusal too, so this
// needs no permission; other servers take the usual default.
func findRegion(ctx context.Context, a Address, transport http.RoundTripper) (string, error) {
	if a.Endpoint != "" {
		return defaultRegion, nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, "https://s3.us-east-1.amazonaws.com/"+a.Bucket, nil)
	if err != nil {
		return "", err
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return "", fmt.Errorf("asking Amazon S3 for the bucket's region: %w", err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)); err != nil {
		return "", err
	}
	if resp.StatusCode == http.StatusNotFound {
		return "", fmt.Errorf("%w: %s", ErrNoBucket, a.Bucket)
	}
	region := resp.Header.Get("X-Amz-Bucket-Region")
	if checkRegion(region) != nil {
		return "", fmt.Errorf("the bucket's region was asked for, and Amazon S3 answered %s", resp.Status)
	}
	return region, nil
}
