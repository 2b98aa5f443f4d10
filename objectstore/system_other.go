//go:build !unix

package objectstore

import (
	"io/fs"
	"os"
	"syscall"
)

// nonblocking is a flag of open where there are named pipes.
const nonblocking = 0

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
