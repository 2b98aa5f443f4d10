package rawlog

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// safeName tells whether a part's name stays below its run.json, however the
// source resolves it.
func safeName(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.ContainsAny(name, "\\\x00:?#")
}

// PartName is the name of a part, relative to run.json.
func PartName(table string, step, repeat int, actor string, index int) string {
	return path.Join(table, fmt.Sprintf("step=%d", step), fmt.Sprintf("repeat=%d", repeat), fmt.Sprintf("part-%s-%d.parquet", actor, index))
}

// IsPartName tells whether an object's name is that of a part. What a part
// holds is in its own metadata; the name only says that it is worth opening.
func IsPartName(name string) bool {
	return strings.HasSuffix(name, ".parquet") && safeName(name)
}

// MissingManifest is the error of a place that has no run.json.
func MissingManifest(address string) error {
	return fmt.Errorf("%w: no %s in %s: give the address that bench printed last", ErrNotARun, ManifestName, address)
}
