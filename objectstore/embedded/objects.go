package embedded

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/johannesboyne/gofakes3"

	"queuebench/objectstore"
)

// smallObject is read at once, in bytes; larger ones are sent from the file.
const smallObject = 128 << 10

// GetObject opens an object, or a range of it.
func (b *backend) GetObject(name, key string, rangeRequest *gofakes3.ObjectRangeRequest) (*gofakes3.Object, error) {
	o, file, err := b.open(name, key)
	if err != nil {
		return nil, err
	}
	if o.Range, err = rangeRequest.Range(o.Size); err != nil {
		file.Close()
		return nil, err
	}
	start, length := int64(0), o.Size
	if o.Range != nil {
		delete(o.Metadata, checksumHeader+"Crc32c") // it is of the whole
		delete(o.Metadata, checksumHeader+"Type")
		start, length = o.Range.Start, o.Range.Length
	}
	if length > smallObject {
		if _, err := file.Seek(start, io.SeekStart); err != nil {
			file.Close()
			return nil, asS3(key, err)
		}
		o.Contents = &fileBody{io.LimitedReader{R: file, N: length}, file}
		return o, nil
	}
	defer file.Close()
	small := make([]byte, length)
	if _, err := file.ReadAt(small, start); err != nil && !errors.Is(err, io.EOF) {
		return nil, asS3(key, err)
	}
	o.Contents = io.NopCloser(bytes.NewReader(small))
	return o, nil
}

// fileBody is part of a file. As a LimitedReader over a file, it is copied to a
// connection by the system.
type fileBody struct {
	io.LimitedReader
	file *os.File
}

func (f *fileBody) Close() error { return f.file.Close() }

// WriteTo hands the LimitedReader itself to a writer that looks for one.
func (f *fileBody) WriteTo(w io.Writer) (int64, error) {
	if r, ok := w.(io.ReaderFrom); ok {
		return r.ReadFrom(&f.LimitedReader)
	}
	return io.Copy(w, &f.LimitedReader)
}

// HeadObject tells what is known of an object.
func (b *backend) HeadObject(name, key string) (*gofakes3.Object, error) {
	o, file, err := b.open(name, key)
	if err != nil {
		return nil, err
	}
	o.Contents = http.NoBody
	return o, file.Close()
}

func (b *backend) open(name, key string) (*gofakes3.Object, *os.File, error) {
	k, err := b.bucket(name)
	if err != nil {
		return nil, nil, err
	}
	file, info, err := k.Open(context.Background(), key)
	if err != nil {
		return nil, nil, asS3(key, err)
	}
	k.mu.Lock()
	known, ok := k.known[key]
	k.mu.Unlock()
	if !ok || known.tag != info.ETag {
		if known, err = k.compute(file, info); err != nil {
			file.Close()
			return nil, nil, asS3(key, err)
		}
	}
	meta := map[string]string{"Content-Type": "application/octet-stream"}
	for name, value := range known.meta {
		meta[name] = value
	}
	meta[checksumHeader+"Crc32c"] = base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, known.crc))
	meta[checksumHeader+"Type"] = "FULL_OBJECT"
	meta["Last-Modified"] = info.Modified.UTC().Format(http.TimeFormat)
	return &gofakes3.Object{Name: key, Metadata: meta, Size: info.Size, Hash: known.md5[:]}, file, nil
}

// DeleteObject removes an object; one that is not there is no error.
func (b *backend) DeleteObject(name, key string) (gofakes3.ObjectDeleteResult, error) {
	k, err := b.bucket(name)
	if err != nil {
		return gofakes3.ObjectDeleteResult{}, err
	}
	k.forget(key)
	return gofakes3.ObjectDeleteResult{}, asS3(key, k.Delete(context.Background(), key))
}

// DeleteMulti removes several; each that fails is named.
func (b *backend) DeleteMulti(name string, keys ...string) (gofakes3.MultiDeleteResult, error) {
	var result gofakes3.MultiDeleteResult
	for _, key := range keys {
		_, err := b.DeleteObject(name, key)
		if err == nil {
			result.Deleted = append(result.Deleted, gofakes3.ObjectID{Key: key})
			continue
		}
		code := gofakes3.ErrInternal
		var coded gofakes3.Error
		if errors.As(err, &coded) {
			code = coded.ErrorCode()
		}
		result.Error = append(result.Error, gofakes3.ErrorResult{Key: key, Code: code, Message: err.Error()})
	}
	return result, nil
}

// PutObject stores an object whole or not at all.
func (b *backend) PutObject(name, key string, meta map[string]string, input io.Reader, size int64, conditions *gofakes3.PutConditions) (gofakes3.PutObjectResult, error) {
	k, err := b.bucket(name)
	if err != nil {
		return gofakes3.PutObjectResult{}, err
	}
	opt := objectstore.PutOptions{}
	if conditions != nil {
		if conditions.IfMatch != nil || conditions.IfNoneMatch == nil || *conditions.IfNoneMatch != "*" {
			return gofakes3.PutObjectResult{}, gofakes3.ErrNotImplemented
		}
		opt.IfAbsent = true
	}
	_, err = k.store(key, meta, input, size, opt)
	return gofakes3.PutObjectResult{}, asS3(key, err)
}

func (k *bucket) store(key string, meta map[string]string, input io.Reader, size int64, opt objectstore.PutOptions) (object, error) {
	h, crc := md5.New(), crc32.New(castagnoli)
	info, err := k.PutReader(context.Background(), key, io.TeeReader(input, io.MultiWriter(h, crc)), size, opt)
	if err != nil {
		return object{}, err
	}
	o := object{tag: info.ETag, crc: crc.Sum32(), meta: keptMeta(meta)}
	h.Sum(o.md5[:0])
	k.remember(key, o)
	return o, nil
}

// keptMeta is what a reader gets back: not the headers of the request's own.
func keptMeta(meta map[string]string) map[string]string {
	var kept map[string]string
	for name, value := range meta {
		if strings.HasPrefix(name, "X-Amz-Meta-") || slices.Contains([]string{"Content-Type", "Content-Encoding", "Content-Disposition"}, name) {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[name] = value
		}
	}
	return kept
}

// CopyObject copies the contents and takes the metadata that it is given.
func (b *backend) CopyObject(srcBucket, srcKey, dstBucket, dstKey string, meta map[string]string) (gofakes3.CopyObjectResult, error) {
	dst, err := b.bucket(dstBucket)
	if err != nil {
		return gofakes3.CopyObjectResult{}, err
	}
	src, file, err := b.open(srcBucket, srcKey)
	if err != nil {
		return gofakes3.CopyObjectResult{}, err
	}
	defer file.Close()
	o, err := dst.store(dstKey, meta, io.NewSectionReader(file, 0, src.Size), src.Size, objectstore.PutOptions{})
	if err != nil {
		return gofakes3.CopyObjectResult{}, asS3(dstKey, err)
	}
	info, err := dst.Head(context.Background(), dstKey)
	if err != nil {
		return gofakes3.CopyObjectResult{}, asS3(dstKey, err)
	}
	return gofakes3.CopyObjectResult{ETag: fmt.Sprintf(`"%x"`, o.md5), LastModified: gofakes3.NewContentTime(info.Modified.UTC())}, nil
}
