package secret

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// maxFile is the largest file of secrets, in bytes.
const maxFile = 1 << 20

// ReadFile reads a file that only its owner may read. Pipes and the like, which
// have no permissions that others could use later, are read as they are.
//
// A file of root that a group may read is taken by a process that is not root:
// such are the files of a Kubernetes Secret in a pod with an fsGroup. On
// Windows nothing is checked, since Go's permission bits say nothing there of
// who may read a file.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := check(path, f); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes, which no file of secrets has", path, maxFile)
	}
	return b, err
}

// ReadLine is the content of such a file without the line's end. An empty one is
// an error.
func ReadLine(path string) (Text, error) {
	b, err := ReadFile(path)
	if err != nil {
		return Text{}, err
	}
	if s := strings.TrimRight(string(b), "\r\n"); s != "" {
		return Of(s), nil
	}
	return Text{}, fmt.Errorf("%s is empty", path)
}

// CheckFile refuses a file that ReadFile would refuse, for what is read by a
// library.
func CheckFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return check(path, f)
}

func check(path string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a folder, not a file", path)
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	who := othersWho(info)
	if who == "" {
		return nil
	}
	return fmt.Errorf("%s holds a secret, and %s may read or change it (mode %04o): chmod 600 %s", path, who, info.Mode().Perm(), path)
}
