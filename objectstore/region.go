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
	if a.Endpoint != "" {
		return a.Endpoint
	}
	return "https://s3.amazonaws.com"
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
