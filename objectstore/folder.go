package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Folder is a folder of the file system behind the verbs of Store: an object is
// a plain file at its key. It never leaves its folder, not through a symbolic
// link either (os.Root sees to that), and lists no symbolic links.
//
// A Put is a temporary file beside the object, then a rename or, if
// conditional, a link, of which the system lets exactly one succeed. What an
// interrupted Put leaves behind begins with ".queuebench-put-": no key may, no
// List shows it, and RemoveAll clears it away.
type Folder struct {
	*folderRoot
	prefix string // "" or ends in a slash
	bad    error  // why the prefix is refused
}

// FolderOptions are the choices that a folder offers.
type FolderOptions struct {
	// NoSync leaves out the flush to disk (fsync of the file and of its
	// folder) with which a Put otherwise ends.
	NoSync bool
}

// folderRoot is what a Folder shares with its Subs.
type folderRoot struct {
	counters
	dir    string // absolute
	noSync bool

	mu   sync.Mutex
	root *os.Root // nil until it is needed and there

	durable sync.Map // folders whose own names were flushed to disk
}

// OpenFolder opens a folder, with puts that are flushed to disk. A folder that
// does not exist is an empty store, made by the first Put.
func OpenFolder(dir string) (Store, error) {
	f, err := FolderOptions{}.Open(dir)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Open opens a folder with these options.
func (o FolderOptions) Open(dir string) (*Folder, error) {
	if dir == "" || strings.IndexByte(dir, 0) >= 0 {
		return nil, &Error{Op: "open", Object: strconv.Quote(dir), Cause: errors.New("not a folder's name")}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, &Error{Op: "open", Object: dir, Cause: err}
	}
	f := &Folder{folderRoot: &folderRoot{dir: abs, noSync: o.NoSync}}
	if _, err := f.base(false); err != nil && !errors.Is(err, fs.ErrNotExist) {
		hint := ""
		if errors.Is(err, syscall.ENOTDIR) {
			hint = "name a folder, not a file"
		}
		return nil, &Error{Op: "open", Object: abs, Cause: err, Hint: hint}
	}
	return f, nil
}

// base opens the root. One that is to be written to is made.
func (f *folderRoot) base(create bool) (*os.Root, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.root != nil {
		return f.root, nil
	}
	root, err := os.OpenRoot(f.dir)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(f.dir, 0o755); err != nil {
			return nil, err
		}
		if !f.noSync {
			syncAncestors(f.dir)
		}
		root, err = os.OpenRoot(f.dir)
	}
	if err != nil {
		return nil, err
	}
	f.root = root
	return root, nil
}

// syncAncestors flushes the folders above a new one. Not each of them can be
// opened by everyone; those that were just made can.
func syncAncestors(dir string) {
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		if d, err := os.Open(up); err == nil {
			_ = d.Sync()
			_ = d.Close()
		}
	}
}

// Sub is the same folder below a further prefix.
func (f *Folder) Sub(prefix string) Store {
	sub := &Folder{folderRoot: f.folderRoot, prefix: joinPrefix(f.prefix, prefix), bad: f.bad}
	if sub.bad == nil && sub.prefix != "" {
		sub.bad = checkKey(strings.TrimSuffix(sub.prefix, "/"))
	}
	return sub
}

// Address is the absolute path of the folder.
func (f *Folder) Address() string {
	return Address{Folder: filepath.Join(f.dir, filepath.FromSlash(f.prefix))}.String()
}

// Durability says whether a Put was flushed to disk.
func (f *Folder) Durability() string {
	if f.noSync {
		return "A stored object is a file in the operating system's cache: it outlives this process, but not a crash or power loss of the host (no fsync)."
	}
	return "A stored object and its name were flushed to the host's disk (fsync) and survive a crash of the host as far as that disk keeps its word."
}

// Requests counts calls; a folder has no connections.
func (f *Folder) Requests() Counts { return f.snapshot() }

// path checks a key and turns it into a path below the root.
func (f *Folder) path(key string) (string, error) {
	if f.bad != nil {
		return "", f.bad
	}
	if err := checkKey(key); err != nil {
		return "", err
	}
	full := f.prefix + key
	if len(full) > maxKey {
		return "", fmt.Errorf("%w: with its prefix it has %d bytes, the limit is %d", ErrInvalidKey, len(full), maxKey)
	}
	for element := range strings.SplitSeq(full, "/") {
		if strings.HasPrefix(element, tempPrefix) {
			return "", fmt.Errorf("%w: names that begin with %q are reserved", ErrInvalidKey, tempPrefix)
		}
		if !filepath.IsLocal(element) {
			return "", fmt.Errorf("%w: this system cannot have a file named %q", ErrInvalidKey, element)
		}
	}
	return filepath.FromSlash(full), nil
}

// fail counts and wraps an error of the file system.
func (f *Folder) fail(op, key string, err error) error {
	e := &Error{Op: op, Object: f.dir + "/" + f.prefix + key, Cause: err}
	switch {
	case errors.Is(err, ErrInvalidKey) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrFolderKey) && op != "put":
		e.Kind, e.Cause = ErrNotFound, nil
	case errors.Is(err, syscall.ENOTDIR) && op != "put":
		e.Kind, e.Cause = ErrNotFound, nil
	case errors.Is(err, ErrFolderKey) || errors.Is(err, syscall.ENOTDIR):
		e.Hint = folderKeyHint
	case errors.Is(err, fs.ErrPermission):
		e.Kind = ErrDenied
		e.Hint = "check owner and permissions of the folder"
		f.failed.Add(1)
	case isFull(err):
		e.Kind, e.Hint = ErrFull, fullHint
		f.failed.Add(1)
	default:
		f.failed.Add(1)
	}
	return e
}
