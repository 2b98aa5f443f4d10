package objectstore

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

func parseS3(rest string) (Address, error) {
	var a Address
	if strings.ContainsRune(rest, '#') {
		return a, errors.New("an s3:// address takes no #: percent-encode it (%23)")
	}
	path, query, _ := strings.Cut(rest, "?")
	bucket, prefix, _ := strings.Cut(path, "/")
	if strings.ContainsRune(bucket, '@') {
		return a, errors.New("an s3:// address takes no credentials: give them in the environment, as docs and --help name them, and write s3://bucket/prefix")
	}
	if err := checkBucket(bucket); err != nil {
		return a, err
	}
	prefix, err := url.PathUnescape(prefix)
	if err != nil {
		return a, errors.New("the prefix of an s3:// address is percent-encoded, and this one is not valid: write % as %25")
	}
	prefix = strings.Trim(prefix, "/")
	if prefix != "" {
		if err := checkKey(prefix); err != nil {
			return a, fmt.Errorf("the prefix of the s3:// address: %w", err)
		}
	}
	a.Bucket, a.Prefix = bucket, prefix
	return a, a.parseQuery(query)
}

// checkBucket is lenient: the store has the last word on its buckets' names.
func checkBucket(bucket string) error {
	if bucket == "" {
		return errors.New("an s3:// address needs a bucket: write s3://bucket/prefix")
	}
	for _, r := range bucket {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_') {
			return fmt.Errorf("an s3:// address begins with the bucket's name, which is of letters, digits, hyphens and dots; a host goes into ?endpoint=: %s", addressForms)
		}
	}
	if len(bucket) > 255 || strings.Trim(bucket, ".") == "" {
		return fmt.Errorf("no bucket has this name: %s", addressForms)
	}
	return nil
}

func (a *Address) parseQuery(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("what follows the ? of the s3:// address is not valid: write endpoint=…&region=…&path-style=true, percent-encoded where it holds & or %")
	}
	for key, all := range values {
		if len(all) > 1 {
			return fmt.Errorf("the s3:// address gives %q twice", key)
		}
		switch v := all[0]; key {
		case "endpoint":
			if a.Endpoint, err = ParseEndpoint(v); err != nil {
				return err
			}
		case "region":
			if err := checkRegion(v); err != nil {
				return err
			}
			a.Region = v
		case "path-style":
			switch v {
			case "true":
				a.Style = StylePath
			case "false":
				a.Style = StyleVirtualHost
			default:
				return errors.New("path-style is true or false")
			}
		default:
			return fmt.Errorf("the s3:// address does not know %q: it takes endpoint, region and path-style; credentials go into the environment", key)
		}
	}
	return nil
}

func checkRegion(region string) error {
	if region == "" {
		return errors.New("the region of the s3:// address is empty: leave it out, or write region=us-east-1")
	}
	for _, r := range region {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.') {
			return errors.New("a region is of letters, digits and hyphens, as in region=us-east-1")
		}
	}
	return nil
}

// ParseEndpoint reads the address of an S3-compatible server, such as
// http://localhost:9000, and gives it in the form that Address.Endpoint has.
func ParseEndpoint(s string) (string, error) {
	const write = "write http://host:port or https://host"
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", errors.New("the endpoint is no valid URL: " + write)
	case u.User != nil:
		return "", errors.New("an endpoint takes no credentials: give them in the environment, and " + write)
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("the endpoint does not begin with http:// or https:// : " + write)
	case u.Hostname() == "" || strings.ContainsAny(u.Host, "@%"):
		return "", errors.New("the endpoint has no host: " + write)
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || strings.ContainsRune(s, '#'):
		return "", errors.New("an endpoint is scheme, host and port, nothing more: " + write)
	}
	return u.Scheme + "://" + u.Host, nil
}
