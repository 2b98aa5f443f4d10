package deltalake

import (
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
