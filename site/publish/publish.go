// Package publish copies a site's folder into a bucket that a web server or the
// store itself serves.
//
// It sends what differs from what is there, the list of runs and the page that
// shows it last, so that a reader never sees a run that is not there yet. It
// deletes nothing, makes no bucket and changes no right: what is public the
// bucket's owner decides. It looks at no other object than those of the site.
package publish

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5" // what a store calls the ETag of an object, no protection
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"queuebench/objectstore"
)

// Object is a file as the store is to have it.
type Object struct {
	Key     string
	Body    []byte
	Options objectstore.PutOptions
	Changed bool // it is not there yet, or not these bytes
}

// The types of a site's files. What is text is stored compressed, with its
// encoding named; a digest and the analyzer are gzip that the page itself unpacks,
// and an encoding that is named would have the browser unpack them before.
var types = map[string]string{
	".html":    "text/html; charset=utf-8",
	".css":     "text/css; charset=utf-8",
	".js":      "text/javascript; charset=utf-8",
	".json":    "application/json",
	".wasm":    "application/wasm",
	".gz":      "application/gzip",
	".zst":     "application/zstd",
	".parquet": "application/vnd.apache.parquet",
	".hlog":    "text/plain; charset=utf-8",
	".svg":     "image/svg+xml",
	".png":     "image/png",
	".csv":     "text/csv; charset=utf-8",
}

const (
	// noCache: asked for again each time, and answered with 304 where nothing
	// changed.
	noCache = "no-cache"
	// immutable is of what is named after its content: kept for a year, and never
	// asked for again.
	immutable = "public, max-age=31536000, immutable"
)

// hashed is a name with 16 digits of the SHA-256 of what lies there.
var hashed = regexp.MustCompile(`[.-]([0-9a-f]{16})\.[a-z.]+$`)

// fixed tells that a file is named after its content, and has it: one that was
// changed by hand must not be kept for a year.
func fixed(key string, body []byte) bool {
	m := hashed.FindStringSubmatch(key)
	sum := sha256.Sum256(body)
	return m != nil && hex.EncodeToString(sum[:8]) == m[1]
}

// last are the files that name others.
var last = []string{"runs.json", "index.html"}

// Plan reads the folder of a site, and compares it with what the store has.
func Plan(ctx context.Context, dir string, store objectstore.Store) ([]Object, error) {
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		return nil, fmt.Errorf("%s holds no site (no index.html): write one with `analyze site RUN --out %s`", dir, dir)
	}
	var out []Object
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && name != dir
		switch {
		case entry.IsDir() && hidden:
			return filepath.SkipDir
		case !entry.Type().IsRegular() || hidden:
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		o, ok, err := object(filepath.ToSlash(rel), name)
		if err != nil || !ok {
			return err
		}
		out = append(out, o)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the site %s: %w", dir, err)
	}
	there, err := existing(ctx, store, out)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Changed = !same(out[i], there[out[i].Key])
	}
	slices.SortStableFunc(out, func(a, b Object) int { return slices.Index(last, a.Key) - slices.Index(last, b.Key) })
	return out, nil
}

// existing are the objects in the folders of the site, by key. What lies below
// other folders, such as raw logs in the same place, is not listed.
func existing(ctx context.Context, store objectstore.Store, objects []Object) (map[string]objectstore.Info, error) {
	there := map[string]objectstore.Info{}
	folders := []string{""}
	for _, o := range objects {
		if dir, _ := path.Split(o.Key); !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	for _, dir := range folders {
		err := store.List(ctx, objectstore.ListOptions{Prefix: dir, Delimiter: "/"}, func(i objectstore.Info) error {
			there[i.Key] = i
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return there, nil
}

// same tells that an object is there already. Its ETag is the MD5 of what lies
// there, but in a bucket that encrypts with keys of its own; what is named after
// its content and is as long is the same in any.
func same(o Object, there objectstore.Info) bool {
	sum := md5.Sum(o.Body)
	return strings.Trim(there.ETag, `"`) == hex.EncodeToString(sum[:]) ||
		o.Options.CacheControl == immutable && there.Key == o.Key && there.Size == int64(len(o.Body))
}

// object is a file of the site; false for one of another kind.
func object(key, name string) (o Object, ok bool, err error) {
	kind := types[path.Ext(key)]
	if kind == "" {
		return o, false, nil
	}
	body, err := os.ReadFile(name)
	if err != nil {
		return o, false, err
	}
	o = Object{Key: key, Body: body, Options: objectstore.PutOptions{ContentType: kind, CacheControl: noCache}}
	if fixed(key, body) {
		o.Options.CacheControl = immutable
	}
	if strings.HasPrefix(kind, "text/") || slices.Contains([]string{".json", ".svg", ".wasm"}, path.Ext(key)) {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err == nil {
			_, err = z.Write(body)
		}
		if err = errors.Join(err, z.Close()); err != nil {
			return o, false, err
		}
		o.Body, o.Options.ContentEncoding = b.Bytes(), "gzip"
	}
	return o, true, nil
}

// Upload sends what changed, in the order of the plan.
func Upload(ctx context.Context, store objectstore.Store, objects []Object, progress func(Object)) error {
	for _, o := range objects {
		if !o.Changed {
			continue
		}
		if err := store.Put(ctx, o.Key, o.Body, o.Options); err != nil {
			return err
		}
		progress(o)
	}
	return nil
}

// PageAddress is where the store itself would serve the site's page, were the
// bucket open to readers.
func PageAddress(a objectstore.Address) string {
	prefix := ""
	for part := range strings.SplitSeq(a.Prefix, "/") {
		if part != "" {
			prefix += url.PathEscape(part) + "/"
		}
	}
	scheme, host, found := strings.Cut(a.Endpoint, "://")
	if !found {
		region := a.Region
		if region == "" {
			region = "us-east-1"
		}
		scheme, host = "https", "s3."+region+".amazonaws.com"
	}
	if a.PathStyle() {
		return scheme + "://" + host + "/" + a.Bucket + "/" + prefix + "index.html"
	}
	return scheme + "://" + a.Bucket + "." + host + "/" + prefix + "index.html"
}

// Origin is the scheme and the host of an address: who asks, for a rule of CORS.
func Origin(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// CORSRule is what the bucket of a raw log needs so that a page of that origin can
// read it by #log=…, in the form that `aws s3api put-bucket-cors` takes.
func CORSRule(origin string) any {
	return map[string]any{"CORSRules": []any{map[string]any{
		"AllowedOrigins": []string{origin}, "AllowedMethods": []string{"GET", "HEAD"}, "AllowedHeaders": []string{"Range"},
		"ExposeHeaders": []string{"Content-Length", "Content-Range", "ETag"}, "MaxAgeSeconds": 3600,
	}}}
}
