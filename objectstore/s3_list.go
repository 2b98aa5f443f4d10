package objectstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
)

// listPage is the most that a store gives in one answer.
const listPage = 1000

// List lists by pages of up to 1,000. With a delimiter the store gives the
// objects of a page before its groups; they are merged back into the order of
// keys here.
func (s *s3Store) List(ctx context.Context, opt ListOptions, yield func(Info) error) error {
	err := s.bad
	if err == nil {
		err = checkList(opt)
	}
	if err != nil {
		return &Error{Op: "list", Object: s.object(opt.Prefix), Cause: err}
	}
	renewed := s.renewal.done()
	some, err := s.list(ctx, opt, yield)
	if err != nil && !some && keysRefused(err) && s.renewal.renew(ctx, renewed) {
		_, err = s.list(ctx, opt, yield)
	}
	return err
}

// list says whether it has handed on some keys.
func (s *s3Store) list(ctx context.Context, opt ListOptions, yield func(Info) error) (some bool, err error) {
	noOwner := false
	query := minio.ListObjectsOptions{
		Prefix:     s.prefix + opt.Prefix,
		Recursive:  opt.Delimiter == "",
		FetchOwner: &noOwner,
	}
	p := &listing{yield: yield, left: opt.Limit, cut: len(s.prefix)}
	switch {
	case opt.After == "":
	case isDirectoryBucket(s.addr.Bucket):
		p.after = opt.After
	default:
		query.StartAfter = s.prefix + opt.After
	}
	if opt.Limit > 0 && opt.Limit < listPage {
		query.MaxKeys = opt.Limit
	}
	full := cmp.Or(query.MaxKeys, listPage)
	actx, a := withAttempt(ctx)
	defer a.cancel()
	page := 0
	for object := range s.core.ListObjectsIter(actx, s.addr.Bucket, query) {
		if err = object.Err; err == nil && a.requests != page {
			page = a.requests
			err = p.flush()
		}
		if err == nil && !p.done {
			p.add(object)
			if len(p.page) == full {
				err = p.flush()
			}
		}
		if err != nil || p.done {
			break
		}
	}
	switch {
	case p.stopped != nil:
		return true, p.stopped
	case a.err != nil:
		return p.some, s.fail("list", opt.Prefix, a.err)
	case err != nil:
		return p.some, s.fail("list", opt.Prefix, err)
	case p.done:
		return true, nil
	case ctx.Err() != nil:
		return p.some, s.fail("list", opt.Prefix, ctx.Err()) // the iterator only ends
	}
	if err = p.flush(); err != nil {
		return true, err
	}
	return p.some, ctx.Err()
}

// isDirectoryBucket says whether a bucket is one of S3 Express One Zone, which
// lists in no order and knows no start.
func isDirectoryBucket(bucket string) bool { return strings.HasSuffix(bucket, directorySuffix) }

// listing hands on a listing page by page, up to a limit.
type listing struct {
	yield   func(Info) error
	left    int    // 0 for no limit
	after   string // what is not greater is left out, where the store does not do so
	cut     int    // length of the store's own prefix
	page    []Info
	some    bool // handed on
	done    bool
	stopped error // what yield returned
}

func (l *listing) add(object minio.ObjectInfo) {
	key := object.Key[min(l.cut, len(object.Key)):]
	if key <= l.after {
		return
	}
	l.page = append(l.page, Info{Key: key, Size: object.Size, Modified: object.LastModified, ETag: object.ETag})
}

// flush hands on a page. What a store lists out of order beyond that stays so.
func (l *listing) flush() error {
	slices.SortFunc(l.page, func(a, b Info) int { return strings.Compare(a.Key, b.Key) })
	for _, info := range l.page {
		l.some = true
		if l.stopped = l.yield(info); l.stopped != nil {
			return l.stopped
		}
		if l.left--; l.left == 0 {
			l.done = true
			return nil
		}
	}
	l.page = l.page[:0]
	return nil
}
