package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"queuebench/internal/command"
)

// outOf is where a command writes to.
func outOf(c *cli.Context) (string, error) {
	out := c.String("out")
	if out == "" {
		return "", command.Misusef("--out is empty: name where to write")
	}
	return out, nil
}

// makeFolder makes the folder that a command writes files to.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("no folder %s to write to: %w; choose another --out", dir, err)
	}
	return nil
}

// outFile is the file that a command writes. It tells before any work is done
// that the path cannot become one.
func outFile(c *cli.Context) (string, error) {
	path, err := outOf(c)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "", command.Misusef("--out %s is a folder: name a file in it", path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return "", command.Misusef("--out %s: there is no folder %s: make it first, or choose another --out", path, filepath.Dir(path))
	}
	return path, nil
}

// writeFile writes a file so that it is either whole or as it was. What is
// there and no regular file, such as /dev/stdout, a pipe or a symbolic link, is
// written into and stays what it is: to replace it could take a device from
// every other program.
func writeFile(path string, write func(io.Writer) error) error {
	put := replaceFile
	if special(path) {
		put = writeInto
	}
	if err := put(path, write); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	return nil
}

// special says that a path is there and no regular file.
func special(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.Mode().IsRegular()
}

// printWritten prints the path of what was written, unless it went to a device
// or a pipe, which may be the standard output itself.
func printWritten(c *cli.Context, path string) error {
	if info, err := os.Stat(path); special(path) && (err != nil || !info.Mode().IsRegular()) || path == "/dev/stdout" {
		return nil
	}
	return command.Print(c.App.Writer, "%s\n", path)
}

// writeInto writes what can be written to and not replaced.
func writeInto(path string, write func(io.Writer) error) error {
	var whole bytes.Buffer
	if err := write(&whole); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(whole.Bytes())
	return errors.Join(err, f.Close())
}

// replaceFile puts a whole file in the place of path.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".queuebench-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
