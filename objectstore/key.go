package objectstore

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxKey is the longest key that S3 takes, in bytes, the prefix included.
const maxKey = 1024

// checkKey refuses a key that could leave its prefix, or that not every store
// can hold: elements are separated by single slashes, none is "", "." or "..".
func checkKey(key string) error {
	if key == "" {
		return fmt.Errorf("%w: it is empty", ErrInvalidKey)
	}
	for element := range strings.SplitSeq(key, "/") {
		switch element {
		case "":
			return fmt.Errorf("%w: it begins or ends with a slash or has two in a row", ErrInvalidKey)
		case ".", "..":
			return fmt.Errorf("%w: %q is not allowed as an element", ErrInvalidKey, element)
		}
	}
	return checkText(key)
}

// checkForeignKey is checkKey for what others may have stored: a key found in
// a bucket may end with a slash (the "folders" of web consoles) or hold two in
// a row, and can still be read and deleted.
func checkForeignKey(key string) error {
	if key == "" || key[0] == '/' {
		return fmt.Errorf("%w: it is empty or begins with a slash", ErrInvalidKey)
	}
	for element := range strings.SplitSeq(key, "/") {
		if element == "." || element == ".." {
			return fmt.Errorf("%w: %q is not allowed as an element", ErrInvalidKey, element)
		}
	}
	return checkText(key)
}

func checkText(key string) error {
	switch {
	case len(key) > maxKey:
		return fmt.Errorf("%w: it has %d bytes, the limit is %d", ErrInvalidKey, len(key), maxKey)
	case strings.IndexByte(key, 0) >= 0:
		return fmt.Errorf("%w: it holds a NUL byte", ErrInvalidKey)
	case !utf8.ValidString(key):
		return fmt.Errorf("%w: it is not UTF-8", ErrInvalidKey)
	}
	return nil
}

// joinPrefix appends a prefix, given with or without slashes around it, to one
// that is "" or ends in a slash; so does the result.
func joinPrefix(base, prefix string) string {
	prefix = strings.Trim(prefix, "/")
	if prefix == "" {
		return base
	}
	return base + prefix + "/"
}
