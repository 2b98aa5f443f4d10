// Package objectstore is object storage behind few verbs: an S3-compatible
// store through minio-go, or a plain folder.
//
// A queue lives on its conditional PUT, a raw log on all the rest. The package
// refuses to retry on its own: a caller that commits must see each answer. Only what
// a store refused for its keys, and so has not done, is asked again with new ones. It
// never lists or heads an object that it was not asked to.
package objectstore

import (
	"context"
	"errors"
	"io"
	"time"
)

// Store is a bucket and a prefix in it, or a folder. Keys are relative to that
// prefix, with slashes; a key never leaves it.
type Store interface {
	// Get returns the whole object. A miss is ErrNotFound.
	Get(ctx context.Context, key string) ([]byte, Info, error)
	// GetRange returns length bytes from offset, fewer only at the end.
	GetRange(ctx context.Context, key string, offset, length int64) ([]byte, Info, error)
	// Put stores a whole object in one request, atomically.
	Put(ctx context.Context, key string, body []byte, opt PutOptions) error
	// PutFile stores what r holds, for objects too large for memory. It is
	// not conditional.
	PutFile(ctx context.Context, key string, r io.ReaderAt, size int64, opt PutOptions) error
	// Delete removes an object; one that is not there is no error.
	Delete(ctx context.Context, key string) error
	// List calls yield for each object whose key begins with prefix and, in
	// the order of keys, is greater than after. With delimiter "/", what lies
	// below a further slash is given once, as a key that ends in a slash.
	// Not every store lists in order.
	List(ctx context.Context, opt ListOptions, yield func(Info) error) error
	// Head tells an object's Info. A miss is ErrNotFound.
	Head(ctx context.Context, key string) (Info, error)

	// Sub is the same store below a further prefix. It shares the counts.
	Sub(prefix string) Store
	// Address is the store's address, complete and free of secrets: what Open
	// takes.
	Address() string
	// Durability is one sentence: what a successful Put means.
	Durability() string
	// Requests are the requests so far, by kind, of this store and its Subs.
	Requests() Counts
}

// IntoGetter is a Store that reads an object into memory that is there. A
// reader of many large objects then leaves nothing to clear and collect.
type IntoGetter interface {
	// GetInto is Get into the memory of buf, where that is large enough, else
	// into new memory. Once it has returned nothing writes to either.
	GetInto(ctx context.Context, key string, buf []byte) ([]byte, Info, error)
}

// Info describes an object.
type Info struct {
	Key      string
	Size     int64
	Modified time.Time
	ETag     string
	// Checked says, of what Get returns, that the body was held against a checksum
	// that the store keeps.
	Checked bool
}

// PutOptions are the options of a Put.
type PutOptions struct {
	IfAbsent        bool // store only if no object has the key; else ErrExists
	ContentType     string
	ContentEncoding string
	CacheControl    string
}

// ListOptions are the options of a List.
type ListOptions struct {
	Prefix    string
	After     string
	Delimiter string // "" or "/"
	Limit     int    // stop after so many; 0 for all
}

// Counts are requests by kind. A request that was tried again counts each time.
type Counts struct {
	Put         int64 `json:"put"`
	PutIfAbsent int64 `json:"put_if_absent"`
	Get         int64 `json:"get"`
	Miss        int64 `json:"miss"` // GET answered 404
	List        int64 `json:"list"`
	Head        int64 `json:"head"`
	Delete      int64 `json:"delete"`
	// Failed is no answer, 5xx or 429, or a body that broke off or came damaged;
	// counted in its kind too. A request that
	// its caller gave up counts in its kind only.
	Failed int64 `json:"failed"`
	// Open is the number of connections open now, a level.
	Open int64 `json:"open"`
}

// The errors that callers act on. They are wrapped with the operation, the
// object and what to do: test with errors.Is.
var (
	// ErrNotFound: no such object (404).
	ErrNotFound = errors.New("no such object")
	// ErrExists: a conditional PUT found the key taken (412). After a lost
	// response that may be the caller's own object.
	ErrExists = errors.New("object exists")
	// ErrConflict: a conditional PUT met another one under way (409); the same
	// key may be tried again.
	ErrConflict = errors.New("conflicting request under way")
	// ErrDenied: the credentials do not permit it (401, 403).
	ErrDenied = errors.New("access denied")
	// ErrNoBucket: the bucket does not exist.
	ErrNoBucket = errors.New("no such bucket")
	// ErrFull: the store, or the disk of a folder, has no room left.
	ErrFull = errors.New("no room is left")
	// ErrDamaged: what came is not what was stored, by its checksum. Asked again,
	// it may come whole.
	ErrDamaged = errors.New("the object came damaged")
	// ErrThrottled: the store asks to slow down (429, 503).
	ErrThrottled = errors.New("throttled")
)
