//go:build !unix

package objectstore

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// nonblocking is a flag of open where there are named pipes.
const nonblocking = 0

// diskFull is ERROR_DISK_FULL of Windows.
const diskFull syscall.Errno = 112

// isFull says that a write failed since there is no room.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, diskFull)
}

// unlink removes a file, or an empty folder. Here the kind is looked at first,
// so that a new object could in theory be taken for the empty folder that had
// its name a moment before; empty folders are therefore left alone.
func unlink(root *os.Root, name string, folder bool) error {
	stat, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if folder || stat.IsDir() {
		return &os.PathError{Op: "remove", Path: name, Err: syscall.EISDIR}
	}
	return root.Remove(name)
}

// fileID would tell apart two files of one name; here time and size must do.
func fileID(fs.FileInfo) uint64 { return 0 }
