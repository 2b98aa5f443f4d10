//go:build unix

package objectstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// nonblocking is a flag of open: without it a named pipe would hang the reader.
const nonblocking = syscall.O_NONBLOCK

// isFull says that a write failed since there is no room: on the disk, of the user's
// quota, or below the limit of a file's size.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// unlink removes a file, or an empty folder, and never the one for the other:
// os.Root.Remove takes either, and what is a folder now may be a new object in
// the next moment.
func unlink(root *os.Root, name string, folder bool) error {
	parent, err := root.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer parent.Close()
	flags := 0
	if folder {
		flags = unix.AT_REMOVEDIR
	}
	if err := unix.Unlinkat(int(parent.Fd()), filepath.Base(name), flags); err != nil {
		return &os.PathError{Op: "unlinkat", Path: name, Err: err}
	}
	return nil
}

// fileID tells apart two files of one name that are alive at one time.
func fileID(stat fs.FileInfo) uint64 {
	if s, ok := stat.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}
