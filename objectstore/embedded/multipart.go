package embedded

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/johannesboyne/gofakes3"

	"queuebench/objectstore"
)

// uploadsDir holds the parts of multipart uploads, beside the buckets; no
// bucket's name begins with a dot. It goes when the server closes.
const uploadsDir = ".uploads"

// upload is a multipart upload under way. gofakes3's own would keep its parts in
// memory and take an empty or repeated list of them.
type upload struct {
	bucket, key string
	meta        map[string]string
	parts       map[int]part
}

type part struct {
	name string // of its file; a part that is put again gets another one
	etag string // quoted
	size int64
}

var _ gofakes3.MultipartBackend = (*backend)(nil)

func (b *backend) parts() (*objectstore.Folder, error) {
	f, err := objectstore.FolderOptions{NoSync: true}.Open(b.uploadsDir)
	if err != nil {
		return nil, gofakes3.ErrorMessage(gofakes3.ErrInternal, err.Error())
	}
	return f, nil
}

// close drops the uploads that were not completed.
func (b *backend) close() error {
	err := os.RemoveAll(b.uploadsDir)
	_ = os.Remove(filepath.Dir(b.uploadsDir)) // refused while another server has its own there
	return err
}

// staleAfter is how old parts must be before another server takes them for
// left behind by one that was killed.
const staleAfter = 24 * time.Hour

// dropStaleUploads clears away what servers that were killed left behind.
func dropStaleUploads(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if stat, statErr := e.Info(); statErr == nil && time.Since(stat.ModTime()) > staleAfter {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// find gives an upload, whose fields but parts do not change.
func (b *backend) find(bucket, key string, id gofakes3.UploadID) (*upload, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.uploads[id]
	if u == nil || u.bucket != bucket || u.key != key {
		return nil, gofakes3.ErrNoSuchUpload
	}
	return u, nil
}

// CreateMultipartUpload begins an upload.
func (b *backend) CreateMultipartUpload(bucket, key string, meta map[string]string) (gofakes3.UploadID, error) {
	if _, err := b.bucket(bucket); err != nil {
		return "", err
	}
	id := gofakes3.UploadID(rand.Text())
	b.mu.Lock()
	defer b.mu.Unlock()
	b.uploads[id] = &upload{bucket: bucket, key: key, meta: meta, parts: map[int]part{}}
	return id, nil
}

// UploadPart stores a part whole or not at all.
func (b *backend) UploadPart(bucket, key string, id gofakes3.UploadID, n int, size int64, input io.Reader) (string, error) {
	u, err := b.find(bucket, key, id)
	if err != nil {
		return "", err
	}
	if n < 1 || n > gofakes3.MaxUploadPartNumber {
		return "", gofakes3.ErrInvalidPart
	}
	f, err := b.parts()
	if err != nil {
		return "", err
	}
	h := md5.New()
	name := fmt.Sprintf("%s/%05d-%s", id, n, rand.Text())
	if _, err := f.PutReader(context.Background(), name, io.TeeReader(input, h), size, objectstore.PutOptions{}); err != nil {
		return "", asS3(key, err)
	}
	etag := fmt.Sprintf(`"%x"`, h.Sum(nil))
	b.mu.Lock()
	defer b.mu.Unlock()
	u.parts[n] = part{name: name, etag: etag, size: size}
	return etag, nil
}

// CompleteMultipartUpload makes an object of the parts that are named.
func (b *backend) CompleteMultipartUpload(bucket, key string, id gofakes3.UploadID, input *gofakes3.CompleteMultipartUploadRequest) (gofakes3.VersionID, string, error) {
	u, err := b.find(bucket, key, id)
	if err != nil {
		return "", "", err
	}
	k, err := b.bucket(bucket)
	if err != nil {
		return "", "", err
	}
	f, err := b.parts()
	if err != nil {
		return "", "", err
	}
	names, err := b.chosen(u, input)
	if err != nil {
		return "", "", err
	}
	body := &partsReader{folder: f, names: names}
	defer body.Close()
	size, err := body.size()
	if err != nil {
		return "", "", asS3(key, err)
	}
	o, err := k.store(key, u.meta, body, size, objectstore.PutOptions{})
	if err != nil {
		return "", "", asS3(key, err)
	}
	return "", fmt.Sprintf(`"%x"`, o.md5), b.AbortMultipartUpload(bucket, key, id)
}

// chosen checks the list of parts and gives the names of their files.
func (b *backend) chosen(u *upload, input *gofakes3.CompleteMultipartUploadRequest) ([]string, error) {
	if len(input.Parts) == 0 {
		return nil, gofakes3.ErrorMessage(gofakes3.ErrMalformedXML, "the list of parts is empty")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	last := 0
	for _, p := range input.Parts {
		if p.PartNumber <= last {
			return nil, gofakes3.ErrInvalidPartOrder
		}
		last = p.PartNumber
		have, ok := u.parts[p.PartNumber]
		if !ok || strings.Trim(p.ETag, `"`) != strings.Trim(have.etag, `"`) {
			return nil, gofakes3.ErrorMessagef(gofakes3.ErrInvalidPart, "there is no part %d with this ETag", p.PartNumber)
		}
		names = append(names, have.name)
	}
	return names, nil
}

// partsReader reads the files of the parts one after the other.
type partsReader struct {
	folder *objectstore.Folder
	names  []string
	open   []*os.File
	r      io.Reader
}

// size opens all parts and adds up their sizes.
func (p *partsReader) size() (int64, error) {
	var total int64
	var all []io.Reader
	for _, name := range p.names {
		file, info, err := p.folder.Open(context.Background(), name)
		if err != nil {
			return 0, err
		}
		p.open = append(p.open, file)
		all = append(all, file)
		total += info.Size
	}
	p.r = io.MultiReader(all...)
	return total, nil
}

func (p *partsReader) Read(b []byte) (int, error) { return p.r.Read(b) }

// Close closes the files, which were only read.
func (p *partsReader) Close() {
	for _, file := range p.open {
		_ = file.Close()
	}
}

// AbortMultipartUpload drops an upload and its parts.
func (b *backend) AbortMultipartUpload(bucket, key string, id gofakes3.UploadID) error {
	if _, err := b.find(bucket, key, id); err != nil {
		return err
	}
	f, err := b.parts()
	if err != nil {
		return err
	}
	b.mu.Lock()
	delete(b.uploads, id)
	b.mu.Unlock()
	_, err = objectstore.RemoveAll(context.Background(), f, string(id)+"/")
	return asS3(key, err)
}

// ListMultipartUploads lists what is under way, without pages.
func (b *backend) ListMultipartUploads(bucket string, marker *gofakes3.UploadListMarker, prefix gofakes3.Prefix, limit int64) (*gofakes3.ListMultipartUploadsResult, error) {
	if marker != nil || prefix.HasDelimiter {
		return nil, gofakes3.ErrNotImplemented
	}
	result := &gofakes3.ListMultipartUploadsResult{Bucket: bucket, Prefix: prefix.Prefix, MaxUploads: limit}
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, u := range b.uploads {
		if u.bucket == bucket && strings.HasPrefix(u.key, prefix.Prefix) {
			result.Uploads = append(result.Uploads, gofakes3.ListMultipartUploadItem{Key: u.key, UploadID: id})
		}
	}
	slices.SortFunc(result.Uploads, func(x, y gofakes3.ListMultipartUploadItem) int {
		return strings.Compare(x.Key+"\x00"+string(x.UploadID), y.Key+"\x00"+string(y.UploadID))
	})
	if int64(len(result.Uploads)) > limit {
		return nil, gofakes3.ErrorMessage(gofakes3.ErrNotImplemented, "the embedded store lists uploads without pages")
	}
	return result, nil
}

// ListParts lists the parts that were stored.
func (b *backend) ListParts(bucket, key string, id gofakes3.UploadID, marker int, limit int64) (*gofakes3.ListMultipartUploadPartsResult, error) {
	u, err := b.find(bucket, key, id)
	if err != nil {
		return nil, err
	}
	result := &gofakes3.ListMultipartUploadPartsResult{Bucket: bucket, Key: key, UploadID: id, MaxParts: limit, PartNumberMarker: marker}
	b.mu.Lock()
	defer b.mu.Unlock()
	var numbers []int
	for n := range u.parts {
		if n > marker {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		if int64(len(result.Parts)) == limit {
			result.IsTruncated = true
			break
		}
		result.Parts = append(result.Parts, gofakes3.ListMultipartUploadPartItem{PartNumber: n, ETag: u.parts[n].etag, Size: u.parts[n].size})
		result.NextPartNumberMarker = n
	}
	return result, nil
}
