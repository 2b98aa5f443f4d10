package objectstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"queuebench/internal/versitygw"
	"queuebench/objectstore"
	"queuebench/objectstore/embedded"
)

// Each store with 1 KB objects, one request at a time. On a shared machine the
// median (p50-ns) and the ratios between stores are what counts.
func BenchmarkStores(b *testing.B) {
	folder, err := objectstore.OpenFolder(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	benchStore(b, "folder", folder)
	noSync, err := objectstore.FolderOptions{NoSync: true}.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	benchStore(b, "folder-nosync", noSync)

	server, err := embedded.Start(context.Background(), embedded.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	if err := server.CreateBucket("bucket"); err != nil {
		b.Fatal(err)
	}
	s, err := server.Open(b.Context(), "bucket", "p")
	if err != nil {
		b.Fatal(err)
	}
	benchStore(b, "embedded", s)

	gw := versitygw.Start(b)
	s, err = objectstore.Open(b.Context(), gw.Address("p"), objectstore.Options{Credentials: objectstore.StaticCredentials(gw.AccessKey, gw.SecretKey, "")})
	if err != nil {
		b.Fatal(err)
	}
	benchStore(b, "versitygw", s)
}

func benchStore(b *testing.B, name string, s objectstore.Store) {
	body := make([]byte, 1024)
	n := 0
	run := func(what string, f func() error) {
		b.Run(name+"/"+what, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if err := f(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
		})
	}
	put := func(opt objectstore.PutOptions) func() error {
		return func() error {
			n++
			return s.Put(b.Context(), fmt.Sprintf("t/%08d", n), body, opt)
		}
	}
	run("put", put(objectstore.PutOptions{}))
	run("put-if-absent", put(objectstore.PutOptions{IfAbsent: true}))
	run("get", func() error {
		_, _, err := s.Get(b.Context(), "t/00000001")
		return err
	})
	run("miss", func() error {
		if _, _, err := s.Get(b.Context(), "t/missing"); !errors.Is(err, objectstore.ErrNotFound) {
			return fmt.Errorf("a missing object: %w", err)
		}
		return nil
	})
}
