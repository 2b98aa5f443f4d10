package objectstore

import (
	"context"
	"io"
)

// Unpooled is the same store, each of whose requests opens a connection of its
// own and closes it: what a pool of connections saves is seen beside it. It
// shares the counts. A folder has no connections, and is the same.
func Unpooled(s Store) Store { return unpooled{s} }

// unpooledKey marks the context of a request that keeps no connection.
type unpooledKey struct{}

func withoutPool(ctx context.Context) context.Context {
	return context.WithValue(ctx, unpooledKey{}, true)
}

func isUnpooled(ctx context.Context) bool { return ctx.Value(unpooledKey{}) != nil }

// unpooled is a store whose requests carry the mark.
type unpooled struct{ Store }

func (u unpooled) Get(ctx context.Context, key string) ([]byte, Info, error) {
	return u.Store.Get(withoutPool(ctx), key)
}

func (u unpooled) GetInto(ctx context.Context, key string, buf []byte) ([]byte, Info, error) {
	if s, ok := u.Store.(IntoGetter); ok {
		return s.GetInto(withoutPool(ctx), key, buf)
	}
	return u.Get(ctx, key)
}

func (u unpooled) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, Info, error) {
	return u.Store.GetRange(withoutPool(ctx), key, offset, length)
}

func (u unpooled) Put(ctx context.Context, key string, body []byte, opt PutOptions) error {
	return u.Store.Put(withoutPool(ctx), key, body, opt)
}

func (u unpooled) PutFile(ctx context.Context, key string, r io.ReaderAt, size int64, opt PutOptions) error {
	return u.Store.PutFile(withoutPool(ctx), key, r, size, opt)
}

func (u unpooled) Delete(ctx context.Context, key string) error {
	return u.Store.Delete(withoutPool(ctx), key)
}

func (u unpooled) List(ctx context.Context, opt ListOptions, yield func(Info) error) error {
	return u.Store.List(withoutPool(ctx), opt, yield)
}

func (u unpooled) Head(ctx context.Context, key string) (Info, error) {
	return u.Store.Head(withoutPool(ctx), key)
}

func (u unpooled) Sub(prefix string) Store { return unpooled{u.Store.Sub(prefix)} }
