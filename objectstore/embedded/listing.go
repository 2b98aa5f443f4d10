package embedded

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/johannesboyne/gofakes3"

	"queuebench/objectstore"
)

// ListBucket gives a page of a listing.
func (b *backend) ListBucket(name string, prefix *gofakes3.Prefix, page gofakes3.ListBucketPage) (*gofakes3.ObjectList, error) {
	k, err := b.bucket(name)
	if err != nil {
		return nil, err
	}
	if prefix == nil {
		prefix = &gofakes3.Prefix{}
	}
	if prefix.Delimiter != "" && prefix.Delimiter != "/" {
		return nil, gofakes3.ErrorMessage(gofakes3.ErrNotImplemented, `the embedded store knows the delimiter "/" only`)
	}
	list := gofakes3.NewObjectList()
	if page.MaxKeys == 0 {
		return list, nil
	}
	left := page.MaxKeys
	last := ""
	enough := errors.New("enough")
	err = k.List(context.Background(), objectstore.ListOptions{Prefix: prefix.Prefix, Delimiter: prefix.Delimiter, After: page.Marker}, func(info objectstore.Info) error {
		if left == 0 {
			list.IsTruncated, list.NextMarker = true, last
			return enough
		}
		left--
		last = info.Key
		if strings.HasSuffix(info.Key, "/") {
			list.AddPrefix(info.Key)
			return nil
		}
		known, err := k.lookup(info)
		if errors.Is(err, objectstore.ErrNotFound) {
			return nil // deleted since it was listed
		}
		if err != nil {
			return err
		}
		list.Add(&gofakes3.Content{
			Key: info.Key, Size: info.Size, LastModified: gofakes3.NewContentTime(info.Modified.UTC()),
			ETag: fmt.Sprintf(`"%x"`, known.md5), StorageClass: "STANDARD",
		})
		return nil
	})
	switch {
	case errors.Is(err, objectstore.ErrInvalidKey): // nothing can begin like this
	case err != nil && !errors.Is(err, enough):
		return nil, asS3(prefix.Prefix, err)
	}
	return list, nil
}

// lookup finds what is known of an object, and computes its MD5 if it was
// stored by another process.
func (k *bucket) lookup(info objectstore.Info) (object, error) {
	k.mu.Lock()
	o, ok := k.known[info.Key]
	k.mu.Unlock()
	if ok && o.tag == info.ETag {
		return o, nil
	}
	file, info, err := k.Open(context.Background(), info.Key)
	if err != nil {
		return object{}, err
	}
	defer file.Close()
	return k.compute(file, info)
}

func (k *bucket) compute(file io.ReaderAt, info objectstore.Info) (object, error) {
	o := object{tag: info.ETag}
	h, crc := md5.New(), crc32.New(castagnoli)
	if _, err := io.Copy(io.MultiWriter(h, crc), io.NewSectionReader(file, 0, info.Size)); err != nil {
		return object{}, err
	}
	h.Sum(o.md5[:0])
	o.crc = crc.Sum32()
	k.remember(info.Key, o)
	return o, nil
}

func (k *bucket) remember(key string, o object) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[key] = o
}

func (k *bucket) forget(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.known, key)
}
