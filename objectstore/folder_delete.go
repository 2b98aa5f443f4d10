package objectstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Delete removes an object, and the folders that it leaves empty.
func (f *Folder) Delete(ctx context.Context, key string) error {
	f.del.Add(1)
	name, err := f.path(strings.TrimSuffix(key, "/"))
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return f.fail("delete", key, err)
	}
	root, err := f.base(false)
	if err == nil && !strings.HasSuffix(key, "/") {
		err = unlink(root, name, false)
	}
	if err = f.noFile(root, name, err); err != nil {
		return f.fail("delete", key, err)
	}
	f.removeEmptyParents(root, filepath.Dir(name))
	return nil
}

// noFile drops an error that only says that there is no such object.
func (f *Folder) noFile(root *os.Root, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil && root != nil {
		if stat, statErr := root.Lstat(name); statErr == nil && stat.IsDir() {
			return nil // a folder is no object; some systems call this EPERM
		}
	}
	return err
}

// removeEmptyParents removes dir and the folders above it while they are
// empty. The system refuses to remove one that is not, so a Put that is under
// way in it is safe; one that was about to begin makes it again.
func (f *folderRoot) removeEmptyParents(root *os.Root, dir string) {
	for root != nil && dir != "." && dir != string(filepath.Separator) {
		f.durable.Delete(dir)
		if unlink(root, dir, true) != nil {
			return
		}
		dir = filepath.Dir(dir)
	}
}
