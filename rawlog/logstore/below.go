package logstore

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"queuebench/objectstore"
	"queuebench/rawlog"
)

// Found is a run, or an object that may be a digest, below a place of a store.
type Found struct {
	Address string
	Object  bool // one object; else the prefix of a run
}

// leastDigest is fewer bytes than any digest has, compressed or not.
const leastDigest = 20

// maxBelow bounds what is looked through for runs.
const maxBelow = 100_000

// ErrTooMany: a place holds more than can be looked through.
var ErrTooMany = errors.New("too much lies there to be looked through")

// Below finds the runs and digests at and below an address of a store, by name; of
// a run's own address it gives that one. A folder that is no run costs one LIST, by
// its delimiter, and each folder in it one HEAD of its manifest: what a run is made
// of is never listed. Objects count as digests by their first two bytes; those that
// are pages, tables and figures by their name are not looked at. A place with
// neither is rawlog.ErrNotARun.
func Below(ctx context.Context, address string, opt objectstore.Options) ([]Found, error) {
	a, err := objectstore.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	if a = runOf(a); isObject(a.Prefix) || isObject(a.Folder) {
		return []Found{{a.String(), true}}, nil
	}
	store, err := objectstore.OpenAddress(ctx, a, opt)
	if err != nil {
		return nil, err
	}
	if a.Bucket != "" {
		if err := objectstore.CheckBucket(ctx, store); err != nil {
			return nil, err
		}
	}
	w := walk{place: a}
	if err := w.into(ctx, store, ""); err != nil {
		return nil, fmt.Errorf("looking for runs below %s: %w", store.Address(), err)
	}
	if len(w.found) == 0 {
		return nil, fmt.Errorf("%s: %w: there is no run and no digest in it or below it", store.Address(), rawlog.ErrNotARun)
	}
	return w.found, nil
}

// IsObject tells the address of a digest in a store from that of a run.
func IsObject(address string) bool {
	address, _, _ = strings.Cut(address, "?")
	return isObject(address)
}

func isObject(key string) bool {
	return strings.HasSuffix(key, ".gz") || strings.HasSuffix(key, ".digest")
}

// walk goes through folders of a store.
type walk struct {
	place objectstore.Address
	seen  int
	found []Found
}

// at is the address of a key below the place.
func (w *walk) at(key string) string {
	a := w.place
	if a.IsFolder() {
		return filepath.Join(a.Folder, filepath.FromSlash(key))
	}
	a.Prefix = strings.Trim(path.Join(a.Prefix, key), "/")
	return a.String()
}

// into looks at the folder of a key, which ends with a slash or is empty.
func (w *walk) into(ctx context.Context, store objectstore.Store, key string) error {
	_, err := store.Head(ctx, key+rawlog.ManifestName)
	if err == nil {
		w.found = append(w.found, Found{w.at(key), false})
		return nil
	}
	if !errors.Is(err, objectstore.ErrNotFound) {
		return err
	}
	var folders, objects []string
	run := false
	err = store.List(ctx, objectstore.ListOptions{Prefix: key, Delimiter: "/"}, func(i objectstore.Info) error {
		if w.seen++; w.seen > maxBelow {
			return fmt.Errorf("%w: more than %d objects and folders: name the runs, or a folder further down", ErrTooMany, maxBelow)
		}
		name := strings.TrimPrefix(i.Key, key)
		switch {
		case rawlog.IsManifestName(name):
			run = true // of the halves of one
		case strings.HasSuffix(name, "/"):
			folders = append(folders, i.Key)
		case i.Size > leastDigest && !foreign(name):
			objects = append(objects, i.Key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if run {
		w.found = append(w.found, Found{w.at(key), false})
		return nil
	}
	for _, k := range objects {
		head, _, err := store.GetRange(ctx, k, 0, 2)
		if err != nil {
			return err
		}
		if IsDigest(head) {
			w.found = append(w.found, Found{w.at(k), true})
		}
	}
	for _, k := range folders {
		if err := w.into(ctx, store, k); err != nil {
			return err
		}
	}
	return nil
}

// foreign tells a name that no digest has.
func foreign(name string) bool {
	switch path.Ext(name) {
	case ".parquet", ".json", ".html", ".csv", ".svg", ".png", ".pdf", ".xml", ".md", ".txt":
		return true
	}
	return false
}

// IsDigest tells by the first two bytes whether a file may be a digest,
// compressed or not.
func IsDigest(head []byte) bool {
	return string(head) == "\x1f\x8b" || string(head) == "#["
}

// Refused tells an error that every object of a store would give.
func Refused(err error) bool {
	return errors.Is(err, objectstore.ErrDenied) || errors.Is(err, objectstore.ErrNoBucket)
}

// Object fetches one object, whole.
func Object(ctx context.Context, address string, opt objectstore.Options) ([]byte, error) {
	a, err := objectstore.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	var name string
	if a.IsFolder() {
		a.Folder, name = filepath.Split(a.Folder)
	} else {
		a.Prefix, name = path.Split(a.Prefix)
		a.Prefix = strings.Trim(a.Prefix, "/")
	}
	store, err := objectstore.OpenAddress(ctx, a, opt)
	if err != nil {
		return nil, err
	}
	info, err := store.Head(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if info.Size > wholeBytes {
		return nil, fmt.Errorf("%s: %.1f MB are no digest: one has at most %d MB", address, float64(info.Size)/1e6, wholeBytes>>20)
	}
	body, _, err := store.Get(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return body, nil
}
