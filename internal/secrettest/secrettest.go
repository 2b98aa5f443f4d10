// Package secrettest searches what a program wrote for secrets that a test gave
// it, in each form in which they may stand there.
//
// It opens what hides a text: gzip, and the columns of the raw log's Parquet.
package secrettest

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"queuebench/internal/secret"
	"queuebench/rawlog"
)

// Marks are the secrets of a test, by the channel through which they are given.
type Marks map[string]string

// Of is a secret for a channel, the same each time. It holds characters that
// addresses and JSON write in another way.
func (m Marks) Of(channel string) string {
	if m[channel] == "" {
		m[channel] = "s3cr3t+/&=\"" + rand.Text()
	}
	return m[channel]
}

// Search looks for the secrets in texts, by their names, and in all files below
// dir but those whose paths (relative, with slashes) are exempt, and fails for
// each that it finds. It returns how many files it searched.
func (m Marks) Search(t testing.TB, dir string, texts map[string]string, exempt ...string) (files int) {
	t.Helper()
	for name, text := range texts {
		m.in(t, name, []byte(text))
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		m.in(t, "the name "+name, []byte(name))
		for _, e := range exempt {
			if filepath.ToSlash(name) == e {
				return nil
			}
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		m.in(t, name, body)
		if strings.HasSuffix(name, ".parquet") {
			m.in(t, name+", its columns", columns(t, body))
		}
		if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				return err
			}
			if body, err = io.ReadAll(z); err != nil {
				return err
			}
			m.in(t, name+", unpacked", body)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return files
}

func (m Marks) in(t testing.TB, where string, body []byte) {
	t.Helper()
	for channel, s := range m {
		for _, form := range secret.Forms(s) {
			if at := bytes.Index(body, []byte(form)); at >= 0 {
				t.Errorf("the secret of %s stands in %s as %s: …%q", channel, where, form, body[max(0, at-80):min(len(body), at+len(form)+20)])
				break
			}
		}
	}
}

// columns are the texts of a part; nothing of Parquet that is none.
func columns(t testing.TB, body []byte) []byte {
	t.Helper()
	r, err := rawlog.OpenPart(rawlog.Memory(body))
	if err != nil {
		return nil // a data file of a queue
	}
	var all []byte
	for r.Next() {
		for _, c := range r.Columns() {
			for _, text := range c.Dict {
				all = append(append(all, text...), '\n')
			}
		}
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	return all
}
