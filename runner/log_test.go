package runner

import (
	"os"
	"path/filepath"
	"testing"

	"queuebench/rawlog"
)

// manifest reads the run.json of a rig.
func (r *rig) manifest(t *testing.T) *rawlog.Manifest {
	t.Helper()
	f, err := os.Open(filepath.Join(r.dir, rawlog.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := rawlog.ReadManifest(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// rows calls yield with the values of each batch of a table, from the parts as
// they lie in the log.
func (r *rig) rows(t *testing.T, table string, columns []string, yield func(p rawlog.Part, n int, v []rawlog.Values)) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(r.dir, table), func(p string, d os.DirEntry, err error) error {
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
		for part.Next() {
			yield(part.Part(), part.Len(), part.Columns())
		}
		return part.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// statuses counts the fates in the table sent.
func (r *rig) statuses(t *testing.T) map[string]int64 {
	t.Helper()
	n := map[string]int64{}
	r.rows(t, "sent", []string{"status"}, func(_ rawlog.Part, rows int, v []rawlog.Values) {
		for i := range rows {
			n[v[0].String(i)]++
		}
	})
	return n
}

// kinds counts the kinds in the table events.
func (r *rig) kinds(t *testing.T) map[string]int {
	t.Helper()
	n := map[string]int{}
	r.rows(t, "events", []string{"kind"}, func(_ rawlog.Part, rows int, v []rawlog.Values) {
		for i := range rows {
			n[v[0].String(i)]++
		}
	})
	return n
}
