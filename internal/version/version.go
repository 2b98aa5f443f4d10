// Package version tells which program this is, from what the Go toolchain
// stamped into it.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Number is the version of the module: a release's tag, or "devel" with the
// revision that was built.
func Number() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	var revision, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = "-" + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	return "devel" + revision + dirty
}

// Text is the version with the Go that built it.
func Text() string {
	return fmt.Sprintf("%s (%s, %s/%s)", Number(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
