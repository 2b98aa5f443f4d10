//go:build unix

package objectstore

import "syscall"

func makePipe(name string) error { return syscall.Mkfifo(name, 0o600) }
