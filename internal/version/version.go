// Package version tells which program this is, from what the Go toolchain
// stamped into it, and from what a build without Git says of itself.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// What the linker sets where the sources have no .git, as in a container's build:
//
//	-ldflags "-X queuebench/internal/version.commit=… -X queuebench/internal/version.number=v1.2.3"
//
// commit ends in "+changes" where something was changed in it. What Git stamped comes
// first.
var commit, number string

// changed ends a commit that was built with changes.
const changed = "+changes"

// Info is all that tells one build from another.
type Info struct {
	Program string `json:"program"`
	Version string `json:"version"` // a release's tag, or "devel" with the commit
	Commit  string `json:"commit"`  // empty where it is not known
	// Changes says whether the sources were changed since the commit; null where that
	// is not known.
	Changes *bool    `json:"changes"`
	Go      string   `json:"go"`
	OS      string   `json:"os"`
	Arch    string   `json:"arch"`
	Tags    []string `json:"tags"`
	CGO     bool     `json:"cgo"`
	// Queues are the kinds that are linked; empty for a program without any.
	Queues       []string `json:"queues"`
	Dependencies []Module `json:"dependencies"`
}

// Module is one that is linked.
type Module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum,omitempty"` // as in go.sum
}

// Of describes the running program.
func Of(program string, queues ...string) Info {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	i := of(info, commit, number)
	i.Program, i.Queues = program, append([]string{}, queues...)
	return i
}

// of reads what the toolchain stamped, and what the linker was told.
func of(info *debug.BuildInfo, commit, number string) Info {
	i := Info{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Tags: []string{}, Dependencies: []Module{}}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	i.CGO = set["CGO_ENABLED"] == "1"
	if tags := set["-tags"]; tags != "" {
		i.Tags = strings.Split(tags, ",")
	}
	if i.Commit = set["vcs.revision"]; i.Commit != "" {
		dirty := set["vcs.modified"] == "true"
		i.Changes = &dirty
	} else if commit != "" {
		revision, dirty := strings.CutSuffix(commit, changed)
		i.Commit, i.Changes = revision, &dirty
	}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		i.Dependencies = append(i.Dependencies, Module{d.Path, d.Version, d.Sum})
	}
	i.Version = cmp.Or(info.Main.Version, "(devel)")
	if i.Version == "(devel)" {
		i.Version = number
	}
	if i.Version == "" {
		i.Version = "devel"
		if i.Commit != "" {
			i.Version += "-" + i.Commit[:min(12, len(i.Commit))]
		}
		if i.Changes != nil && *i.Changes {
			i.Version += changed
		}
	}
	return i
}

// String is one line of all but the dependencies.
func (i Info) String() string {
	commit := "commit not known"
	if i.Commit != "" {
		commit = "commit " + i.Commit
		if *i.Changes {
			commit += " with changes"
		}
	}
	tags := "no tags"
	if len(i.Tags) > 0 {
		tags = "tags " + strings.Join(i.Tags, ",")
	}
	parts := []string{fmt.Sprintf("%s (%s, %s/%s)", i.Version, i.Go, i.OS, i.Arch), commit, tags}
	if len(i.Queues) > 0 {
		parts = append(parts, "queues "+strings.Join(i.Queues, ", "))
	}
	return strings.Join(parts, "; ")
}

// Number is the version alone: a release's tag, or "devel" with the revision that
// was built.
func Number() string { return Of("").Version }
