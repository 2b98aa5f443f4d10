// Package version tells which program this is, from what the Go toolchain
// stamped into it.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
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

// Long is Text, and all else that tells one build from another: the revision,
// whether something was changed in it, the build tags, and what the program
// names besides, such as "queues delta, memory".
func Long(more ...string) string {
	parts := []string{Text()}
	if info, ok := debug.ReadBuildInfo(); ok {
		set := map[string]string{}
		for _, s := range info.Settings {
			set[s.Key] = s.Value
		}
		commit := "commit not known"
		if r := set["vcs.revision"]; r != "" {
			commit = "commit " + r
			if set["vcs.modified"] == "true" {
				commit += " with changes"
			}
		}
		tags := "no tags"
		if set["-tags"] != "" {
			tags = "tags " + set["-tags"]
		}
		parts = append(parts, commit, tags)
	}
	return strings.Join(append(parts, more...), "; ")
}

// Text is the version with the Go that built it.
func Text() string {
	return fmt.Sprintf("%s (%s, %s/%s)", Number(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
