package objectstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// tempPrefix begins the name of an object that is still being written.
const tempPrefix = ".queuebench-put-"

// putTries bounds how often a Put starts again because its folder, or its
// temporary file, was cleared away under it by Deletes or a RemoveAll.
const putTries = 100

// Put stores a whole object atomically.
func (f *Folder) Put(ctx context.Context, key string, body []byte, opt PutOptions) error {
	_, err := f.put(ctx, key, bytes.NewReader(body), int64(len(body)), opt)
	return err
}

// PutFile stores what r holds. It is not conditional.
func (f *Folder) PutFile(ctx context.Context, key string, r io.ReaderAt, size int64, opt PutOptions) error {
	if opt.IfAbsent {
		return &Error{Op: "put", Object: f.prefix + key, Cause: errConditionalFile}
	}
	_, err := f.put(ctx, key, io.NewSectionReader(r, 0, size), size, opt)
	return err
}

// errConditionalFile refuses what Store.PutFile does not promise.
var errConditionalFile = errors.New("a file cannot be put conditionally: use Put")

// PutReader stores exactly size bytes of r, or nothing: an r that ends early,
// fails, or has more is an error. A Put that has to start again seeks back if r
// can, and fails otherwise. It tells the Info of what it stored.
func (f *Folder) PutReader(ctx context.Context, key string, r io.Reader, size int64, opt PutOptions) (Info, error) {
	return f.put(ctx, key, r, size, opt)
}

func (f *Folder) put(ctx context.Context, key string, r io.Reader, size int64, opt PutOptions) (Info, error) {
	if opt.IfAbsent {
		f.putIfAbsent.Add(1)
	} else {
		f.counters.put.Add(1)
	}
	name, err := f.path(key)
	if err != nil {
		return Info{}, f.fail("put", key, err)
	}
	root, err := f.base(true)
	if err != nil {
		return Info{}, f.fail("put", key, err)
	}
	p := folderPut{ctx: ctx, root: root, durable: &f.durable, name: name, r: r, size: size, ifAbsent: opt.IfAbsent, sync: !f.noSync}
	for range putTries {
		if err = p.once(); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	switch {
	case err == nil:
		return infoOf(key, p.stat), nil
	case errors.Is(err, ErrExists):
		return Info{}, &Error{Op: "put", Object: f.dir + "/" + f.prefix + key, Kind: ErrExists}
	case errors.Is(err, fs.ErrNotExist):
		return Info{}, f.fail("put", key, fmt.Errorf("the folder was removed while it was in use: %v", err))
	}
	return Info{}, f.fail("put", key, err)
}

// folderPut is a Put under way.
type folderPut struct {
	ctx      context.Context
	root     *os.Root
	name     string
	r        io.Reader
	size     int64
	ifAbsent bool
	sync     bool
	durable  *sync.Map

	begun bool // r was read from
	stat  fs.FileInfo
}

// once writes a temporary file beside the object and gives it its name. It may
// be called again after fs.ErrNotExist: the folder was cleared away under it.
func (p *folderPut) once() error {
	temp := filepath.Join(filepath.Dir(p.name), tempPrefix+rand.Text())
	file, err := p.create(temp)
	if err != nil {
		return err
	}
	// From here on the folder is not empty, so no Delete takes it away.
	err = p.fill(file)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = publish(p.root, temp, p.name, p.ifAbsent)
	}
	if err != nil || p.ifAbsent {
		// What cannot be removed is never listed, and RemoveAll tries again.
		_ = p.root.Remove(temp)
	}
	if err != nil || !p.sync {
		return err
	}
	return p.syncFolders()
}

// create makes the temporary file, and its folder if there is none.
func (p *folderPut) create(temp string) (*os.File, error) {
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	file, err := p.root.OpenFile(temp, flags, 0o644)
	dir := filepath.Dir(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = p.root.MkdirAll(dir, 0o755); err == nil {
			file, err = p.root.OpenFile(temp, flags, 0o644)
		}
	}
	return file, asBlockedPath(p.root, dir, err)
}

// fill writes the body.
func (p *folderPut) fill(file *os.File) error {
	if p.begun {
		seeker, ok := p.r.(io.Seeker)
		if !ok {
			return errors.New("the object's folder was removed while it was being written")
		}
		if _, err := seeker.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	p.begun = true
	err := copyExactly(p.ctx, file, p.r, p.size)
	if err == nil && p.sync {
		err = file.Sync()
	}
	if err == nil {
		p.stat, err = file.Stat()
	}
	return err
}

// publish gives a finished file its name. An empty folder of that name, which a
// crash may have left, makes way for it.
func publish(root *os.Root, temp, name string, ifAbsent bool) error {
	for {
		var err error
		if ifAbsent {
			err = root.Link(temp, name)
		} else {
			err = root.Rename(temp, name)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return err
		}
		stat, statErr := root.Lstat(name)
		switch {
		case statErr == nil && stat.IsDir():
			if unlink(root, name, true) != nil {
				return fmt.Errorf("%w (%v)", ErrFolderKey, err)
			}
		case ifAbsent && errors.Is(err, fs.ErrExist):
			return ErrExists
		default:
			return err
		}
	}
}

// asBlockedPath explains why a folder could not be made. It may only have been
// removed in the same moment by a Delete (which MkdirAll calls "file exists"):
// then it is made again. Otherwise there is a file in the way.
func asBlockedPath(root *os.Root, dir string, err error) error {
	if err == nil || !errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	for p := dir; p != "."; p = filepath.Dir(p) {
		if stat, statErr := root.Stat(p); statErr == nil && !stat.IsDir() {
			return fmt.Errorf("%w (%v)", ErrFolderKey, err)
		}
	}
	return fs.ErrNotExist
}
