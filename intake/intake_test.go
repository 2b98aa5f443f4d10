package intake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/clock"
	"queuebench/objectstore"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
)

// logOf writes a run of 1,000 messages in a second, in parts of 400 rows, and
// returns its files by their names in the folder.
func logOf(t *testing.T, run string) map[string]rawlog.Memory {
	t.Helper()
	dir := t.TempDir()
	store, err := objectstore.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	id := clock.Identity{Host: "one", BootID: "b", AnchorNs: 1}
	l, err := logwriter.New(logwriter.Options{Store: store, Run: run, Clock: id, SpoolDir: t.TempDir(), PartAge: time.Hour, PartRows: 400})
	if err != nil {
		t.Fatal(err)
	}
	const n, start = 1000, int64(1_700_000_000e9)
	sent, received := l.Sent(0, 0, "producer-0"), l.Received(0, 0, "consumer-0")
	for i := range int64(n) {
		at := start + i*1e6
		sent.SetWatermark(at)
		sent.Append(rawlog.SentRow{Seq: i, IntendedNs: at, SentNs: at + 10, AckedNs: at + 1e6, Status: rawlog.Acked})
		received.Append(rawlog.ReceivedRow{Group: "g", Seq: i, ReceivedNs: at + 2e6 + i*1e3})
	}
	if _, err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	m := &rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: run, Complete: true, StartedNs: start, Clock: id, Settings: map[string]string{}, Warnings: []string{},
		Queue: queue.Info{Kind: "test", Partitions: 1},
		Steps: []rawlog.Step{{Rate: n, Settings: map[string]string{}, StartedNs: start, DurationNs: 1e9, DeadlineNs: start + 30e9, Producers: 1, Groups: []string{"g"}, Complete: true,
			Accounting: rawlog.Accounting{Scheduled: n, Attempted: n, Acked: n, Received: n}, Parts: l.Parts(0, 0)}}}
	if err := l.WriteManifest(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	files := map[string]rawlog.Memory{}
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil || len(files) != 7 {
		t.Fatal(len(files), err)
	}
	return files
}

// folder are the files as a dropped folder gives them.
func folder(dir string, from int, files map[string]rawlog.Memory) (out []File) {
	for name, body := range files {
		out = append(out, File{Name: dir + "/" + name, From: from, Found: true, Object: body})
	}
	return out
}

// loose are the files as dropped by themselves: only the last part of a name is
// left.
func loose(files map[string]rawlog.Memory) (out []File) {
	for name, body := range files {
		out = append(out, File{Name: name[strings.LastIndex(name, "/")+1:], Object: body})
	}
	return out
}

func text(runs []Run) string {
	var all []string
	for _, r := range runs {
		s := r.Name
		if r.Err != nil {
			s += " fails: " + r.Err.Error()
		} else {
			s += fmt.Sprintf(" %d received", r.Digest.Steps[0].Accounting.Received)
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

func sameDigest(t *testing.T, a, b *analysis.Digest) {
	t.Helper()
	var x, y bytes.Buffer
	if err := errors.Join(analysis.WriteDigest(&x, a), analysis.WriteDigest(&y, b)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(x.Bytes(), y.Bytes()) {
		t.Error("the digests differ")
	}
}

// A log is the same run whether its folder is given or its files, in any order:
// what a part is of stands in it.
func TestFilesThatLostTheirFolderAreTheSameRun(t *testing.T) {
	files := logOf(t, "a")
	whole, notes := Open(t.Context(), folder("x/a", 0, files), Options{})
	if text(whole) != "a 1000 received" || len(notes) > 0 {
		t.Fatal(text(whole), notes)
	}
	for range 3 { // maps have another order each time
		runs, _ := Open(t.Context(), loose(files), Options{})
		if text(runs) != "a 1000 received" {
			t.Fatal(text(runs))
		}
		sameDigest(t, runs[0].Digest, whole[0].Digest)
	}
	// Two halves of what was given come together.
	var split []File
	for i, f := range loose(files) {
		f.From = i % 2
		split = append(split, f)
	}
	if runs, _ := Open(t.Context(), split, Options{}); text(runs) != "a 1000 received" {
		t.Error(text(runs))
	}
}

func TestPartsOfTwoRunsAreTwoRuns(t *testing.T) {
	a, b := logOf(t, "a"), logOf(t, "b")
	both := append(loose(a), loose(b)...)
	if runs, _ := Open(t.Context(), both, Options{}); text(runs) != "a 1000 received; b 1000 received" {
		t.Error(text(runs))
	}
	// Without any run.json, too: and the digests say so.
	var parts []File
	for _, f := range both {
		if f.Name != rawlog.ManifestName {
			parts = append(parts, f)
		}
	}
	runs, _ := Open(t.Context(), parts, Options{})
	if text(runs) != "a 1000 received; b 1000 received" {
		t.Error(text(runs))
	}
	for _, r := range runs {
		if r.Err == nil && (r.Digest.Manifest.Complete || len(r.Digest.Manifest.Warnings) == 0 || r.Digest.Manifest.Reason == "") {
			t.Errorf("a log without run.json is taken for a whole one: %+v", r.Digest.Manifest)
		}
	}
	// The same run in two folders is open twice.
	if runs, _ := Open(t.Context(), append(folder("one", 0, a), folder("two", 0, a)...), Options{}); text(runs) != "a 1000 received; a 1000 received" {
		t.Error(text(runs))
	}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	files := logOf(t, "a")
	const part = "sent/step=0/repeat=0/part-producer-0-1.parquet"
	change := func(name string, body rawlog.Memory) map[string]rawlog.Memory {
		out := map[string]rawlog.Memory{}
		for n, b := range files {
			out[n] = b
		}
		if delete(out, name); body != nil {
			out[name] = body
		}
		return out
	}
	damaged := bytes.Clone(files[part])
	for i := 100; i < 300; i++ {
		damaged[i] ^= 0x55
	}
	for name, c := range map[string]struct {
		files []File
		says  []string
	}{
		"missing part":     {folder("a", 0, change(part, nil)), []string{"1 of the 6 parts", part, "whole folder", "`analyze report a`"}},
		"damaged part":     {folder("a", 0, change(part, damaged)), []string{part, "damaged", "copy it again"}},
		"cut part":         {folder("a", 0, change(part, files[part][:len(files[part])/2])), []string{part, "cut off"}},
		"cut part, loose":  {loose(change(part, files[part][:len(files[part])/2])), []string{"part-producer-0-1.parquet", "cut off"}},
		"the same twice":   {append(folder("a", 0, files), File{Name: "copy.parquet", Object: files[part]}), []string{"copy.parquet", "same part"}},
		"cut run.json":     {folder("a", 0, change("run.json", files["run.json"][:500])), []string{"run.json", "damaged"}},
		"empty":            {[]File{{Name: "x.gz", Object: rawlog.Memory{}}}, []string{"x.gz: the file is empty", "`analyze report x.gz`"}},
		"foreign":          {[]File{{Name: "it's.pdf", Object: rawlog.Memory("%PDF-1.7")}}, []string{"it's.pdf", "no format that is known", "vegeta CSV"}},
		"foreign Parquet":  {[]File{{Name: "t.parquet", Object: rawlog.Memory("PAR1PAR1PAR1PAR1")}}, []string{"t.parquet"}},
		"unreadable":       {[]File{{Name: "gone", Object: failing{}}}, []string{"gone", "the disk is gone"}},
		"could not be got": {[]File{{Name: "far", Err: errors.New("far away")}}, []string{"far away"}},
	} {
		runs, notes := Open(t.Context(), c.files, Options{})
		var found bool
		for _, r := range runs {
			if r.Err == nil {
				continue
			}
			found = true
			for _, s := range c.says {
				if !strings.Contains(r.Err.Error(), s) {
					found = false
				}
			}
			if found {
				break
			}
		}
		if !found {
			t.Errorf("%s: %s %q, want %q", name, text(runs), notes, c.says)
		}
	}
	more := append(folder("a", 0, files), File{Name: "a/.DS_Store", Found: true, Object: rawlog.Memory("\x00\x01")}, File{Name: "a/empty", Found: true, Object: rawlog.Memory{}})
	if runs, notes := Open(t.Context(), more, Options{}); text(runs) != "a 1000 received" || len(notes) != 2 || !strings.Contains(strings.Join(notes, ""), ".DS_Store") {
		t.Errorf("%s, %q", text(runs), notes)
	}
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, errors.New("the disk is gone") }
func (failing) Size() int64                       { return 1 << 20 }
func (failing) Close() error                      { return nil }

var _ io.ReaderAt = failing{}

func TestFilesOfOtherTools(t *testing.T) {
	var files []File
	for _, name := range []string{"vegeta.csv", "omb-result.json", "pathway-seed.csv", "sample.hlog"} {
		body, err := os.ReadFile(filepath.Join("..", "importer", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, File{Name: name, Object: rawlog.Memory(body)})
	}
	var last Progress
	runs, notes := Open(t.Context(), files, Options{Progress: func(p Progress) {
		if p.Part() < last.Part() || p.Part() > 1 {
			t.Errorf("progress goes from %+v to %+v", last, p)
		}
		last = p
	}})
	if len(notes) > 0 || len(runs) != 3 {
		t.Fatal(len(runs), notes)
	}
	if runs[0].Name != "vegeta.csv" || runs[1].Name != "omb-result.json, pathway-seed.csv" || len(runs[1].Digest.References) < 2 || runs[2].Name != "sample.hlog" {
		t.Errorf("%q, %q, %q", runs[0].Name, runs[1].Name, runs[2].Name)
	}
	if last.Part() != 1 {
		t.Errorf("the progress ends at %+v", last)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	runs, _ := Open(ctx, loose(logOf(t, "a")), Options{})
	if len(runs) != 1 || !errors.Is(runs[0].Err, context.Canceled) {
		t.Error(text(runs))
	}
}

// FuzzOpen opens files of any content, together with those of a run.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"schema":"queuebench.run/1","run":"a","steps":[{"parts":[{"name":"x.parquet"}]}]}`), []byte("PAR1"))
	f.Add([]byte("#[Histogram log format version 1.3]\n"), []byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		files := []File{{Name: "run.json", Object: rawlog.Memory(a)}, {Name: "d/x.parquet", Found: true, Object: rawlog.Memory(b)}}
		runs, notes := Open(t.Context(), files, Options{})
		if len(runs)+len(notes) == 0 {
			t.Error("two files, and nothing is said of them")
		}
		for _, r := range runs {
			if (r.Err == nil) == (r.Digest == nil) {
				t.Errorf("%+v", r)
			}
		}
	})
}

// The fragment comes from an address that anybody may have written.
func FuzzParseFragment(f *testing.F) {
	for _, text := range []string{"", "warmup=3s&columns=intended=a,received=b&unit=ms", "metric=x", "log=%zz", "columns=", "unit=parsecs", "&&=&"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := ParseFragment(text)
		_, again := ParseFragment("#" + text)
		if (err == nil) != (again == nil) && !strings.HasPrefix(text, "#") {
			t.Errorf("%q: %v, and with #: %v", text, err, again)
		}
	})
}
