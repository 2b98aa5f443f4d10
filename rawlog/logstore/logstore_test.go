package logstore

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
)

// writeRun writes a small run below dir and returns its rows per part name.
func writeRun(t *testing.T, dir string) {
	t.Helper()
	store, err := objectstore.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := logwriter.New(logwriter.Options{Store: store, Run: filepath.Base(dir), SpoolDir: t.TempDir() + "/spool", PartAge: time.Hour, PartRows: 40})
	if err != nil {
		t.Fatal(err)
	}
	w := l.Sent(0, 0, "producer-0")
	for i := range 100 {
		w.Append(rawlog.SentRow{Seq: int64(i), IntendedNs: 1, Status: rawlog.Acked})
	}
	w.Close()
	if _, err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: filepath.Base(dir), Steps: []rawlog.Step{{Parts: l.Parts(0, 0)}}}
	if err := l.WriteManifest(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

func TestReadsWhatWasWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "run-1")
	writeRun(t, dir)
	for _, address := range []string{dir, dir + "/", dir + "/run.json", "file://" + dir} {
		s, err := Open(t.Context(), address, objectstore.Options{})
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		obj, err := s.Open(t.Context(), rawlog.ManifestName)
		if err != nil {
			t.Fatal(err)
		}
		m, err := rawlog.ReadManifest(bytes.NewReader(obj.(rawlog.Memory)))
		if err != nil || m.Run != "run-1" {
			t.Fatalf("%s: manifest %+v, %v", address, m, err)
		}
		names, err := s.List(t.Context())
		if err != nil || len(names) != 4 || !slices.Contains(names, "run.json") {
			t.Fatalf("%s: names %v, %v", address, names, err)
		}
		rows := int64(0)
		for _, p := range m.Steps[0].Parts {
			if !slices.Contains(names, p.Name) {
				t.Errorf("%s is not listed", p.Name)
			}
			obj, err := s.Open(t.Context(), p.Name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := rawlog.OpenPart(obj, "seq")
			if err != nil {
				t.Fatal(err)
			}
			for r.Next() {
				for _, seq := range r.Columns()[0].Ints {
					if seq != rows {
						t.Fatalf("seq %d at row %d", seq, rows)
					}
					rows++
				}
			}
			if err := errors.Join(r.Err(), obj.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if rows != 100 {
			t.Errorf("%d rows", rows)
		}
	}
}

func TestPlacesWithoutARun(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, filepath.Join(dir, "runs", "run-7"))
	_, err := Open(t.Context(), filepath.Join(dir, "runs"), objectstore.Options{})
	if !errors.Is(err, rawlog.ErrNotARun) || !strings.Contains(err.Error(), "give the address that bench printed last") || !strings.Contains(err.Error(), "run-7") {
		t.Errorf("the folder above a run: %v", err)
	}
	_, err = Open(t.Context(), filepath.Join(dir, "nothing"), objectstore.Options{})
	if !errors.Is(err, rawlog.ErrNotARun) || !strings.Contains(err.Error(), "no run.json in") {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err = Open(t.Context(), "", objectstore.Options{}); err == nil {
		t.Error("an empty address was opened")
	}
	if _, err := os.Stat(filepath.Join(dir, "nothing")); err == nil {
		t.Error("opening made a folder")
	}
}

func TestAMissingPartIsNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run-1")
	writeRun(t, dir)
	s, err := Open(t.Context(), dir, objectstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	name := rawlog.PartName("sent", 0, 0, "producer-0", 9)
	if _, err := s.Open(t.Context(), name); !errors.Is(err, objectstore.ErrNotFound) || !strings.Contains(err.Error(), name) {
		t.Errorf("error is %v", err)
	}
}

func TestRunOf(t *testing.T) {
	for in, want := range map[string]string{
		"s3://b/p/run-1/run.json?region=r": "s3://b/p/run-1?region=r",
		"s3://b/run.json":                  "s3://b",
		"s3://b/p":                         "s3://b/p",
		"s3://b/p/myrun.json":              "s3://b/p/myrun.json",
	} {
		a, err := objectstore.ParseAddress(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := runOf(a).String(); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

// sized is a store that says its objects are larger than they are fetched
// whole.
type sized struct {
	objectstore.Store
	ranges int
}

func (s *sized) Head(ctx context.Context, key string) (objectstore.Info, error) {
	return objectstore.Info{Key: key, Size: wholeBytes + 100}, nil
}

func (s *sized) GetRange(_ context.Context, _ string, offset, length int64) ([]byte, objectstore.Info, error) {
	s.ranges++
	b := make([]byte, length)
	for i := range b {
		b[i] = byte(offset + int64(i))
	}
	return b, objectstore.Info{}, nil
}

func (s *sized) Get(_ context.Context, key string) ([]byte, objectstore.Info, error) {
	return []byte("{}"), objectstore.Info{}, nil
}

func TestLargeObjectsAreReadByRanges(t *testing.T) {
	store := &sized{}
	s, err := OpenStore(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	obj, err := s.Open(t.Context(), "large.parquet")
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 8)
	if n, err := obj.ReadAt(p, 1000); n != 8 || err != nil || p[0] != 1000%256 {
		t.Errorf("read %d, %v, %v", n, err, p)
	}
	if n, err := obj.ReadAt(p, obj.Size()-3); n != 3 || err == nil {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if n, err := obj.ReadAt(p, obj.Size()); n != 0 || err == nil {
		t.Errorf("behind the end: %d, %v", n, err)
	}
	if store.ranges != 2 {
		t.Errorf("%d ranges were fetched", store.ranges)
	}
}

// A server that accepts and never answers would hang every analyze command.
func TestASilentServerIsToldInTime(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	opt := objectstore.Options{Credentials: objectstore.StaticCredentials("a", "b", "")}
	_, err = Open(ctx, "s3://bucket/run?endpoint=http://"+silent.Addr().String(), opt)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("a silent server: %v", err)
	}
}
