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
	"strings"
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

// copyExactly copies size bytes, and fails if r has fewer or more.
func copyExactly(ctx context.Context, w io.Writer, r io.Reader, size int64) error {
	n, err := io.CopyBuffer(onlyWriter{w}, io.LimitReader(&contextReader{ctx, r}, size), make([]byte, min(max(size, 512), 256<<10)))
	switch {
	case err != nil:
		return err
	case n < size:
		return fmt.Errorf("the body ended after %d of %d bytes: %w", n, size, io.ErrUnexpectedEOF)
	}
	var one [1]byte
	switch extra, err := io.ReadFull(r, one[:]); {
	case extra > 0:
		return fmt.Errorf("the body is longer than the %d bytes that were announced", size)
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

// onlyWriter hides ReadFrom, which would take over the copying.
type onlyWriter struct{ io.Writer }

// contextReader ends a long copy when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// syncFolders flushes the folder that got a new name, and those above it as long
// as their own names may not be on disk: another Put may have made them and not
// have come to that yet.
func (p *folderPut) syncFolders() error {
	for dir := filepath.Dir(p.name); ; dir = filepath.Dir(dir) {
		_, known := p.durable.Load(dir)
		err := syncFolder(p.root, dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the object was deleted already, and its folder with it
		}
		if err != nil {
			return err
		}
		if known || dir == "." {
			break
		}
	}
	for dir := filepath.Dir(p.name); dir != "."; dir = filepath.Dir(dir) {
		p.durable.Store(dir, true)
	}
	return nil
}

func syncFolder(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

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
