package objectstore

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// Address says where a store lies: a folder, or a bucket of an S3-compatible
// store and a prefix in it. It has no room for a secret.
//
//	./data  /var/data  file:///var/data
//	s3://bucket/prefix?endpoint=http://localhost:9000&region=us-east-1&path-style=true
type Address struct {
	// Folder is a path of this system, cleaned; the fields of S3 are then empty.
	Folder string

	Bucket   string
	Prefix   string // without slashes at its ends
	Endpoint string // http:// or https:// and host; "" is Amazon S3
	Region   string // "" is left to Open
	Style    Style
}

// Style is how a bucket is put into a request.
type Style int

// The styles.
const (
	// StyleDefault is path style if there is an endpoint, else virtual host.
	StyleDefault     Style = iota
	StylePath              // http://host/bucket/key
	StyleVirtualHost       // http://bucket.host/key
)

// PathStyle says whether requests name the bucket in their path.
func (a Address) PathStyle() bool {
	if a.Style == StyleDefault {
		return a.Endpoint != ""
	}
	return a.Style == StylePath
}

// Encrypted says whether requests go over TLS.
func (a Address) Encrypted() bool {
	return !a.IsFolder() && !strings.HasPrefix(a.Endpoint, "http://")
}

// IsFolder says whether it is a folder.
func (a Address) IsFolder() bool { return a.Folder != "" }

const addressForms = "write a folder such as ./data, or s3://bucket/prefix?endpoint=http://host:port&region=us-east-1"

// ParseAddress reads an address. What it does not understand it refuses; the
// error never repeats what could be a secret.
func ParseAddress(s string) (Address, error) {
	scheme, rest, hasScheme := strings.Cut(s, "://")
	switch {
	case s == "":
		return Address{}, errors.New("the store's address is empty: " + addressForms)
	case strings.IndexByte(s, 0) >= 0:
		return Address{}, errors.New("the store's address holds a NUL byte: " + addressForms)
	case hasScheme && scheme == "s3":
		return parseS3(rest)
	case hasScheme && scheme == "file":
		return parseFile(rest)
	case hasScheme && isScheme(scheme):
		return Address{}, fmt.Errorf("a store's address cannot begin with %s:// : %s", scheme, addressForms)
	}
	if scheme, _, ok := strings.Cut(s, ":"); ok {
		switch strings.ToLower(scheme) {
		case "s3", "file", "http", "https":
			return Address{}, fmt.Errorf("a store's address that begins with %s: needs two slashes there, as in %s:// : %s; a folder of that name is ./%s:…", scheme, scheme, addressForms, scheme)
		}
	}
	return Address{Folder: filepath.Clean(s)}, nil
}

// isScheme says whether s could be the scheme of a URL (RFC 3986, 3.1).
func isScheme(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", r)) {
			return false
		}
	}
	return s != ""
}

func parseFile(rest string) (Address, error) {
	const write = "write file:///folder with three slashes and an absolute path, or the folder alone"
	rest = strings.TrimPrefix(rest, "localhost")
	if !strings.HasPrefix(rest, "/") {
		return Address{}, errors.New("a file:// address names a host: " + write)
	}
	if strings.ContainsAny(rest, "?#") {
		return Address{}, errors.New("a file:// address takes no ? and no #: percent-encode them (%3F, %23)")
	}
	path, err := url.PathUnescape(rest)
	if err != nil || strings.IndexByte(path, 0) >= 0 {
		return Address{}, errors.New("a file:// address is percent-encoded, and this one is not valid: " + write)
	}
	return Address{Folder: filepath.Clean(filepath.FromSlash(path))}, nil
}

// String is the address as ParseAddress reads it.
func (a Address) String() string {
	if a.IsFolder() {
		return folderString(a.Folder)
	}
	var b strings.Builder
	b.WriteString("s3://" + a.Bucket)
	if a.Prefix != "" {
		b.WriteString("/" + escapePrefix(a.Prefix))
	}
	sep := "?"
	add := func(key, value string) {
		if value != "" {
			b.WriteString(sep + key + "=" + value)
			sep = "&"
		}
	}
	add("endpoint", a.Endpoint) // scheme, host and port need no escape
	add("region", a.Region)
	switch a.Style {
	case StylePath:
		add("path-style", "true")
	case StyleVirtualHost:
		add("path-style", "false")
	}
	return b.String()
}

// folderString writes a folder so that it is read as one.
func folderString(folder string) string {
	if back, err := ParseAddress(folder); err == nil && back.Folder == folder {
		return folder
	}
	return "." + string(filepath.Separator) + folder
}

// escapePrefix percent-encodes what would end or change a prefix, and what
// does not survive a shell or a log line; the rest stays readable.
func escapePrefix(prefix string) string {
	var b strings.Builder
	for i := range len(prefix) {
		c := prefix[i]
		if c <= ' ' || c == 0x7f || strings.IndexByte(`%?#"'\<>`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
