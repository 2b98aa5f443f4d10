package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// errListEnd ends a walk early, without being an error.
var errListEnd = errors.New("enough")

// List calls yield for each object in the byte order of keys, as S3 does.
func (f *Folder) List(ctx context.Context, opt ListOptions, yield func(Info) error) error {
	f.list.Add(1)
	if err := checkList(opt); err != nil {
		return f.fail("list", opt.Prefix, err)
	}
	prefix := f.prefix + opt.Prefix
	dir := prefix[:strings.LastIndexByte(prefix, '/')+1] // "" or ends in a slash
	if f.bad != nil {
		return f.fail("list", opt.Prefix, f.bad)
	}
	if dir != "" {
		if err := checkKey(strings.TrimSuffix(dir, "/")); err != nil {
			return f.fail("list", opt.Prefix, err)
		}
	}
	root, err := f.base(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return f.fail("list", opt.Prefix, err)
	}
	w := &folderWalk{ctx: ctx, root: root, prefix: prefix, delimiter: opt.Delimiter != ""}
	if opt.After != "" {
		w.after = f.prefix + opt.After
	}
	left := opt.Limit
	var fromYield error
	err = w.walk(dir, func(info Info) error {
		info.Key = info.Key[len(f.prefix):]
		if fromYield = yield(info); fromYield != nil {
			return fromYield
		}
		if left--; left == 0 {
			return errListEnd
		}
		return nil
	})
	switch {
	case fromYield != nil:
		return fromYield
	case err == nil || errors.Is(err, errListEnd):
		return nil
	}
	return f.fail("list", opt.Prefix, err)
}

// checkList refuses options that no store understands alike.
func checkList(opt ListOptions) error {
	switch {
	case opt.Delimiter != "" && opt.Delimiter != "/":
		return errors.New(`the only delimiter is "/"`)
	case opt.Limit < 0:
		return errors.New("the limit is negative")
	}
	return nil
}

// folderWalk goes through a tree in the byte order of whole keys.
type folderWalk struct {
	ctx       context.Context
	root      *os.Root
	prefix    string
	after     string
	delimiter bool
}

// walk gives the objects below dir, which is "" or ends in a slash.
func (w *folderWalk) walk(dir string, yield func(Info) error) error {
	keys, err := w.children(dir)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if !w.wanted(key) {
			continue
		}
		switch folder := strings.HasSuffix(key, "/"); {
		case folder && w.delimiter && len(key) > len(w.prefix):
			err = w.group(key, yield)
		case folder:
			err = w.walk(key, yield)
		default:
			err = w.object(key, yield)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wanted says whether an object, or one below a folder, can be in the answer.
func (w *folderWalk) wanted(key string) bool {
	if strings.HasSuffix(key, "/") {
		inPrefix := strings.HasPrefix(key, w.prefix) || strings.HasPrefix(w.prefix, key)
		return inPrefix && (key > w.after || strings.HasPrefix(w.after, key))
	}
	return strings.HasPrefix(key, w.prefix) && key > w.after
}

// group gives a folder as one entry if there is an object in it to stand for.
func (w *folderWalk) group(key string, yield func(Info) error) error {
	if key == w.after {
		return nil // the end of an earlier page, which had this group
	}
	inner := *w
	inner.delimiter, inner.prefix = false, key
	err := inner.walk(key, func(Info) error { return errListEnd })
	if errors.Is(err, errListEnd) {
		return yield(Info{Key: key})
	}
	return err
}

func (w *folderWalk) object(key string, yield func(Info) error) error {
	stat, err := w.root.Lstat(filepath.FromSlash(key))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil // deleted since the folder was read
	}
	if err != nil {
		return err
	}
	if !stat.Mode().IsRegular() {
		return nil
	}
	return yield(infoOf(key, stat))
}

// children reads a folder: files as keys, folders as keys with a slash, which
// sorts them as whole keys sort.
func (w *folderWalk) children(dir string) ([]string, error) {
	entries, err := readFolder(w.root, dir)
	if err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(entries))
	for _, e := range entries {
		name := dir + e.Name()
		switch {
		case strings.HasPrefix(e.Name(), tempPrefix) || checkKey(name) != nil:
		case e.IsDir():
			keys = append(keys, name+"/")
		case e.Type().IsRegular():
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// readFolder reads a folder that may be gone, or be a file by now.
func readFolder(root *os.Root, dir string) ([]fs.DirEntry, error) {
	name := filepath.FromSlash(path.Clean("./" + dir))
	d, err := root.OpenFile(name, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil, nil
		}
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return entries, nil
	}
	return entries, err
}

// sweep removes what interrupted puts left below the prefix, and the folders
// that are empty then. A Put that loses its temporary file starts again.
func (f *Folder) sweep(ctx context.Context, prefix string) error {
	root, err := f.base(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return f.fail("delete", prefix, err)
	}
	if err := f.sweepFolder(ctx, root, f.prefix+prefix); err != nil {
		return f.fail("delete", prefix, err)
	}
	f.removeEmptyParents(root, filepath.Dir(filepath.FromSlash(strings.TrimSuffix(f.prefix+prefix, "/"))))
	return nil
}

func (f *folderRoot) sweepFolder(ctx context.Context, root *os.Root, dir string) error {
	entries, err := readFolder(root, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case e.IsDir():
			err = f.sweepFolder(ctx, root, dir+e.Name()+"/")
		case strings.HasPrefix(e.Name(), tempPrefix):
			err = unlink(root, filepath.FromSlash(dir+e.Name()), false)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if name := strings.TrimSuffix(dir, "/"); name != "" {
		f.durable.Delete(filepath.FromSlash(name))
		_ = unlink(root, filepath.FromSlash(name), true) // refused while it is not empty
	}
	return nil
}
