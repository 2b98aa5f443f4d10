package logwriter

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// spool is the folder in which parts grow and wait for their upload, under the
// names that they have in the store.
type spool struct {
	dir string
	// wrap lets a test stand between a part and the disk; nil for nothing.
	wrap func(name string, f io.Writer) io.Writer
}

// OpenSuffix marks a part in the spool that is not closed: it has no footer, and
// what a killed run leaves of it cannot be read.
const OpenSuffix = ".open"

func (s *spool) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// spoolFile is a part that grows.
type spoolFile struct {
	io.Writer
	file *os.File
	path string // when closed
}

func (s *spool) create(name string) (*spoolFile, error) {
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(path + OpenSuffix)
	if err != nil {
		return nil, err
	}
	out := &spoolFile{Writer: f, file: f, path: path}
	if s.wrap != nil {
		out.Writer = s.wrap(name, f)
	}
	return out, nil
}

// finish closes the file under its own name and returns its size in bytes.
func (f *spoolFile) finish() (int64, error) {
	size, err := f.file.Seek(0, io.SeekCurrent)
	if err != nil {
		f.discard()
		return 0, err
	}
	if err := f.file.Close(); err != nil {
		os.Remove(f.file.Name())
		return 0, err
	}
	return size, os.Rename(f.file.Name(), f.path)
}

// discard removes the file.
func (f *spoolFile) discard() {
	f.file.Close()
	os.Remove(f.file.Name())
}

// remove deletes a closed part. Its folder may be about to take another one,
// so it stays until prune.
func (s *spool) remove(name string) error { return os.Remove(s.path(name)) }

// prune removes the empty folders of the spool, and the spool if it is empty.
func (s *spool) prune() {
	var dirs []string
	filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs) {
		os.Remove(dir) // refuses a folder that is not empty
	}
}
