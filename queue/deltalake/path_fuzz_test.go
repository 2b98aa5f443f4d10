package deltalake

import (
	"math"
	"path"
	"strings"
	"testing"
)

// Paths of a log never leave the table, and a schema that is no schema is an
// error.
func FuzzPaths(f *testing.F) {
	for _, s := range []string{"part-0.parquet", "p=1/x%20y.parquet", "../x", "a/../../x", "/etc/passwd", "s3://b/k", "file:/x", "%2e%2e/x", "%2Fetc", "_delta_log/_sidecars/x.parquet", "", `{"type":"struct","fields":[]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if key, err := dataKey(text); err == nil {
			if clean := path.Clean("/table/" + key); !strings.HasPrefix(clean, "/table/") || clean != "/table/"+key {
				t.Errorf("the data file %q is %q", text, key)
			}
		}
		if key, err := sidecarKey(text); err == nil && path.Dir(key)+"/" != sidecars {
			t.Errorf("the sidecar %q is %q", text, key)
		}
		_, _ = parseSchema(text)
	})
}

// A name is that of a version exactly where that version is written so; nothing
// nested, signed, or larger than a version can be is one.
func FuzzParseName(f *testing.F) {
	for _, s := range []string{versionKey(0), versionKey(math.MaxInt64), checkpointKey(7), "_delta_log/99999999999999999999.json", "_delta_log/a/" + versionKey(1), "_delta_log/00000000000000000003.checkpoint.0000000001.0000000002.parquet", "_delta_log/_last_checkpoint", "_delta_log/00000000000000000003.checkpoint.x-1.json"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if v, ok := parseName(versionName, key); ok && (v < 0 || versionKey(v) != key) {
			t.Errorf("%q is version %d, which is written %q", key, v, versionKey(v))
		}
		if v, ok := parseName(checkpointName, key); ok {
			if v < 0 || !strings.HasPrefix(key, strings.TrimSuffix(checkpointKey(v), "parquet")) || strings.Count(key, "/") != 1 {
				t.Errorf("%q is a checkpoint of version %d", key, v)
			}
			if _, also := parseName(versionName, key); also {
				t.Errorf("%q is a version, too", key)
			}
		}
	})
}
