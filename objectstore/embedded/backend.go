package embedded

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/johannesboyne/gofakes3"

	"queuebench/objectstore"
)

// backend keeps the objects of gofakes3 as files, one folder for each bucket.
type backend struct {
	dir        string
	uploadsDir string // of this server alone

	mu      sync.Mutex
	buckets map[string]*bucket
	uploads map[gofakes3.UploadID]*upload
}

// bucket is a folder and what is remembered of its objects.
type bucket struct {
	*objectstore.Folder

	mu    sync.Mutex
	known map[string]object // by key
}

// object is what a file does not say. It holds while the file has its tag.
type object struct {
	tag  string // the folder's ETag of the file
	md5  [md5.Size]byte
	meta map[string]string
}

var _ gofakes3.Backend = (*backend)(nil)

func newBackend(dir string) *backend {
	return &backend{dir: dir, uploadsDir: filepath.Join(dir, uploadsDir, rand.Text()), buckets: map[string]*bucket{}, uploads: map[gofakes3.UploadID]*upload{}}
}

// bucket finds a bucket by its folder, which may have been made or removed by
// others meanwhile.
func (b *backend) bucket(name string) (*bucket, error) {
	ok, err := b.BucketExists(name)
	if err != nil || !ok {
		return nil, errors.Join(err, gofakes3.BucketNotFound(name))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.buckets[name]; k != nil {
		return k, nil
	}
	f, err := objectstore.FolderOptions{NoSync: true}.Open(filepath.Join(b.dir, name))
	if err != nil {
		return nil, gofakes3.ErrorMessage(gofakes3.ErrInternal, err.Error())
	}
	k := &bucket{Folder: f, known: map[string]object{}}
	b.buckets[name] = k
	return k, nil
}

// asS3 says an error of a folder in S3's words.
func asS3(key string, err error) error {
	var code gofakes3.ErrorCode
	var coded gofakes3.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &coded): // of the body, on its way through the folder
		return coded
	case errors.As(err, &code):
		return code
	case errors.Is(err, objectstore.ErrNotFound):
		return gofakes3.KeyNotFound(key)
	case errors.Is(err, objectstore.ErrExists):
		return gofakes3.ErrorMessage(gofakes3.ErrPreconditionFailed, "there is an object of this key")
	case errors.Is(err, objectstore.ErrInvalidKey), errors.Is(err, objectstore.ErrFolderKey), errors.Is(err, syscall.ENAMETOOLONG):
		return gofakes3.ErrorMessage(gofakes3.ErrInvalidArgument, err.Error())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return gofakes3.ErrorMessage(gofakes3.ErrIncompleteBody, err.Error())
	}
	return gofakes3.ErrorMessage(gofakes3.ErrInternal, err.Error())
}

// ListBuckets lists the folders whose names are those of buckets.
func (b *backend) ListBuckets() ([]gofakes3.BucketInfo, error) {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return nil, gofakes3.ErrorMessage(gofakes3.ErrInternal, err.Error())
	}
	var all []gofakes3.BucketInfo
	for _, e := range entries {
		stat, err := e.Info()
		if err != nil || !e.IsDir() || gofakes3.ValidateBucketName(e.Name()) != nil {
			continue
		}
		all = append(all, gofakes3.BucketInfo{Name: e.Name(), CreationDate: gofakes3.NewContentTime(stat.ModTime())})
	}
	return all, nil
}

// BucketExists says whether a bucket's folder is there.
func (b *backend) BucketExists(name string) (bool, error) {
	if gofakes3.ValidateBucketName(name) != nil {
		return false, nil
	}
	stat, err := os.Lstat(filepath.Join(b.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, gofakes3.ErrorMessage(gofakes3.ErrInternal, err.Error())
	}
	return stat.IsDir(), nil
}

// CreateBucket makes a bucket's folder.
func (b *backend) CreateBucket(name string) error {
	err := os.Mkdir(filepath.Join(b.dir, name), 0o755)
	if errors.Is(err, os.ErrExist) {
		return gofakes3.ResourceError(gofakes3.ErrBucketAlreadyExists, name)
	}
	return asS3(name, err)
}

// DeleteBucket removes a bucket without objects.
func (b *backend) DeleteBucket(name string) error {
	b.mu.Lock()
	delete(b.buckets, name)
	b.mu.Unlock()
	err := os.Remove(filepath.Join(b.dir, name))
	if errors.Is(err, os.ErrExist) || errors.Is(err, syscall.ENOTEMPTY) {
		return gofakes3.ResourceError(gofakes3.ErrBucketNotEmpty, name)
	}
	return asS3(name, err)
}

// ForceDeleteBucket is refused: a folder of results is not deleted at a stroke.
func (b *backend) ForceDeleteBucket(string) error { return gofakes3.ErrNotImplemented }

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
	h := md5.New()
	if _, err := io.Copy(h, io.NewSectionReader(file, 0, info.Size)); err != nil {
		return object{}, err
	}
	h.Sum(o.md5[:0])
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
	h := md5.New()
	info, err := k.PutReader(context.Background(), key, io.TeeReader(input, h), size, opt)
	if err != nil {
		return object{}, err
	}
	o := object{tag: info.ETag, meta: keptMeta(meta)}
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
