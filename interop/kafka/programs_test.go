//go:build interop

package kafka

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"queuebench/rawlog"
)

// programs are those of the project, built once.
var programs = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "queuebench-interop-"); err != nil {
		return "", err
	}
	for _, name := range []string{"cmd/bench", "cmd/analyze", "examples/running-sum"} {
		out, berr := exec.Command("go", "build", "-o", filepath.Join(dir, filepath.Base(name)), "../../"+name).CombinedOutput()
		if berr != nil {
			return dir, errors.New(name + ": " + string(out))
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := programs(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

func program(t *testing.T, name string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// result is what a test reads of the JSON of bench.
type result struct {
	Address string
	Steps   []struct {
		Settings   map[string]string
		Accounting rawlog.Accounting
	}
	Scenario struct {
		Verdicts []struct{ Expectation, State, Found string }
	}
}

// bench runs bench in a folder of its own, and returns what it says and its
// exit status.
func bench(t *testing.T, args ...string) (r result, status int) {
	t.Helper()
	args = append(args, "--json", "--quiet", "--calibrate=false")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t, "bench"), args...)
	cmd.Dir = t.TempDir()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if errs.Len() > 0 {
		t.Logf("bench: %s", errs.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if jerr := json.NewDecoder(bytes.NewReader(out.Bytes())).Decode(&r); jerr != nil { // its address follows
		t.Fatalf("bench %v: %v, %v\n%s", args, err, jerr, out.String())
	}
	if !filepath.IsAbs(r.Address) {
		r.Address = filepath.Join(cmd.Dir, r.Address)
	}
	return r, cmd.ProcessState.ExitCode()
}

// analyze runs analyze and returns what it prints.
func analyze(t *testing.T, args ...string) string {
	t.Helper()
	var errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program(t, "analyze"), args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("analyze %v: %v\n%s", args, err, errs.String())
	}
	return string(out)
}

// rows calls yield for each row of a table of a run that lies in a folder, with
// the values of number columns.
func rows(t *testing.T, run, table string, columns []string, yield func(v []int64)) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(run, table), func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		part, err := rawlog.OpenPart(rawlog.Memory(body), columns...)
		if err != nil {
			return err
		}
		row := make([]int64, len(columns))
		for part.Next() {
			for i := range part.Len() {
				for c, v := range part.Columns() {
					row[c] = v.Ints[i]
				}
				yield(row)
			}
		}
		return part.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// createTopic makes a topic whose stamps are the broker's own.
func createTopic(t *testing.T, bootstrap, name string, partitions int32) {
	t.Helper()
	client := client(t, bootstrap)
	stamp := "LogAppendTime"
	if _, err := kadm.NewClient(client).CreateTopic(t.Context(), partitions, -1, map[string]*string{"message.timestamp.type": &stamp}, name); err != nil {
		t.Fatal(err)
	}
}

func client(t *testing.T, bootstrap string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	c, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(bootstrap)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// records are all that a topic holds and that is committed, in the order of
// their partitions.
func records(t *testing.T, bootstrap, topic string) map[int32][]*kgo.Record {
	t.Helper()
	admin := kadm.NewClient(client(t, bootstrap))
	ends, err := admin.ListCommittedOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	left, all := map[int32]int64{}, map[int32][]*kgo.Record{}
	from := map[int32]kgo.Offset{}
	ends.Each(func(o kadm.ListedOffset) {
		from[o.Partition] = kgo.NewOffset().AtStart()
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := client(t, bootstrap, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords())
	for len(left) > 0 {
		fetches := c.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("reading %s: %v", topic, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
			if !r.Attrs.IsControl() {
				all[r.Partition] = append(all[r.Partition], r)
			}
		})
	}
	return all
}
