package embedded

import (
	"crypto/md5"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
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
	crc  uint32 // CRC-32C
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
	case errors.Is(err, objectstore.ErrFull):
		return gofakes3.ErrorMessage("XMinioStorageFull", err.Error())
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
