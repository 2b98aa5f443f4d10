package objectstore

import (
	"errors"
	"fmt"
	"strings"
)

// Error is what every verb of a Store returns when it fails: the operation, the
// object, why, and what to do about it. errors.Is finds both the kind (such as
// ErrDenied) and the cause (such as context.Canceled). It holds no secret.
type Error struct {
	Op     string // get, put, list, …
	Object string // the object's or the store's address
	Kind   error  // one of the package's errors, nil for anything else
	Cause  error  // what the store or the system said, nil where Kind says it all
	Hint   string // what to do, may be empty
}

// Error is one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Op, e.Object)
	if e.Kind != nil {
		fmt.Fprintf(&b, ": %v", e.Kind)
	}
	if e.Cause != nil {
		fmt.Fprintf(&b, ": %v", e.Cause)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range []error{e.Kind, e.Cause} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// The errors that only some stores have.
var (
	// ErrInvalidKey: no store of ours takes such a key.
	ErrInvalidKey = errors.New("invalid key")
	// ErrFolderKey: a store that keeps objects as files cannot hold the key,
	// since it is the beginning of another one's, or another one's of it.
	ErrFolderKey = errors.New("the key is both an object and a folder")
)

// fullHint says what to do about ErrFull.
const fullHint = "make room, or name another place"

// folderKeyHint says what to do about ErrFolderKey.
const folderKeyHint = "a store that keeps objects as files cannot hold one whose key is also the beginning of another one's: choose another key"
