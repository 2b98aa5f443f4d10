package analysis

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"queuebench/internal/cputimetest"
	"queuebench/rawlog"
)

// folder is a log in a folder, whose objects are read whole.
type folder string

func (f folder) List(context.Context) ([]string, error) {
	var names []string
	err := fs.WalkDir(os.DirFS(string(f)), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

func (f folder) Open(_ context.Context, name string) (rawlog.Object, error) {
	body, err := os.ReadFile(filepath.Join(string(f), filepath.FromSlash(name)))
	return rawlog.Memory(body), err
}

func (f folder) Address() string { return string(f) }

// BenchmarkFolder is a log in the folder BENCH_LOG to its digest: both tables
// joined, all latencies, accounting; then the summary, and the digest written.
//
// BENCH_ONLY=1 reads what the end-to-end latency and the accounting take, and
// writes no digest.
func BenchmarkFolder(b *testing.B) {
	dir := os.Getenv("BENCH_LOG")
	if dir == "" {
		b.Fatal("BENCH_LOG names no log: `make bench-analyze` makes one")
	}
	only := os.Getenv("BENCH_ONLY") != ""
	b.ReportAllocs()
	cpu := cputimetest.Used(b)
	var messages int64
	for b.Loop() {
		d, err := Read(b.Context(), folder(dir), Options{EndToEndOnly: only})
		if err != nil {
			b.Fatal(err)
		}
		s := Summarize(d, View{})
		messages += s.Steps[0].Accounting.Scheduled
		if only {
			continue
		}
		var out bytes.Buffer
		if err := WriteDigest(&out, d); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(messages)/b.Elapsed().Seconds()/1e6, "Mmsg/s")
	b.ReportMetric(float64(messages)/(cputimetest.Used(b)-cpu).Seconds()/1e6, "Mmsg/cpu-s")
}
