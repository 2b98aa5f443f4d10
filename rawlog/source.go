package rawlog

import (
	"context"
	"io"
)

// Source is where a run's log lies: a folder, a prefix of a store, or files
// that were dropped on a page. Names are relative to run.json, with slashes.
type Source interface {
	// List names what is there, in any order.
	List(ctx context.Context) ([]string, error)
	// Open opens one object for reading at any offset.
	Open(ctx context.Context, name string) (Object, error)
	// Address says where it lies, for messages.
	Address() string
}

// Object is one stored file.
type Object interface {
	io.ReaderAt
	io.Closer
	Size() int64
}
