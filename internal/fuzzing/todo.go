package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"queuebench/internal/reliability"
)

// left are the targets without a pass of at least so long since what they try was
// changed, by rows that changed tells of. A failure undoes the passes before it.
func left(all []target, rows []reliability.Row, atLeast time.Duration, changed func(target, reliability.Row) (bool, error)) ([]target, error) {
	var out []target
	for _, t := range all {
		var passes []reliability.Row
		for _, r := range rows {
			switch {
			case r.ID != "fuzz/"+t.String():
			case r.Failed:
				passes = nil
			case r.Effort >= atLeast.Seconds():
				passes = append(passes, r)
			}
		}
		done := false
		for _, r := range passes {
			c, err := changed(t, r)
			if err != nil {
				return nil, err
			}
			done = done || !c
		}
		if !done {
			out = append(out, t)
		}
	}
	return out, nil
}

// history tells from Git whether what a target tries was changed after a row: the room
// without its tests, what it imports of this module, and the file of the target.
type history struct {
	ctx   context.Context
	paths map[string][]string // of a room, as Git takes them
}

func newHistory(ctx context.Context, all []target) (*history, error) {
	h := &history{ctx, map[string][]string{}}
	args := []string{"list", "-f", "{{.Dir}}\t{{.ImportPath}}\t{{if .Module}}{{.Module.Path}}\t{{.Module.Dir}}{{end}}\t{{join .Deps \" \"}}"}
	for _, t := range all {
		if h.paths[t.room] == nil {
			h.paths[t.room] = []string{}
			args = append(args, t.room)
		}
	}
	if len(args) == 3 {
		return h, nil
	}
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			return nil, fmt.Errorf("go list says %q", line)
		}
		module, root := f[2], f[3]
		dir, err := filepath.Rel(root, f[0])
		if err != nil {
			return nil, err
		}
		room := "."
		if dir != "." {
			room = "./" + filepath.ToSlash(dir)
		}
		for _, p := range append(strings.Fields(f[4]), f[1]) {
			if below, ours := strings.CutPrefix(p+"/", module+"/"); ours {
				h.paths[room] = append(h.paths[room], ":(top,glob)"+below+"*.go", ":(top,glob,exclude)"+below+"*_test.go")
			}
		}
	}
	return h, nil
}

// changed is exact where the row's commit is known; else it goes by times, and what is
// not committed is a change.
func (h *history) changed(t target, row reliability.Row) (bool, error) {
	file, err := fileOf(t)
	if err != nil {
		return false, err
	}
	for _, paths := range [][]string{h.paths[t.room], {":(top,literal)" + file}} {
		if c, err := h.changedAt(paths, row); c || err != nil {
			return c, err
		}
	}
	return false, nil
}

var commitID = regexp.MustCompile(`^[0-9a-f]{7,40}$`)

func (h *history) changedAt(paths []string, row reliability.Row) (bool, error) {
	if commitID.MatchString(row.Commit) && h.git("cat-file", "-e", row.Commit+"^{commit}") == nil {
		return h.differs(row.Commit, paths)
	}
	if c, err := h.differs("HEAD", paths); c || err != nil {
		return c, err
	}
	out, err := exec.CommandContext(h.ctx, "git", append([]string{"log", "-1", "--format=%ct", "--"}, paths...)...).Output()
	if err != nil {
		return false, fmt.Errorf("git log: %w", err)
	}
	at, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return true, nil // it was never committed
	}
	began := row.At.Add(-time.Duration(row.Effort * float64(time.Second)))
	return !time.Unix(at, 0).Before(began), nil
}

// differs holds the files as they are now to a commit.
func (h *history) differs(commit string, paths []string) (bool, error) {
	err := h.git(append([]string{"diff", "--quiet", commit, "--"}, paths...)...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return true, nil
	}
	return false, err
}

func (h *history) git(args ...string) error {
	if err := exec.CommandContext(h.ctx, "git", args...).Run(); err != nil {
		return fmt.Errorf("git %s: %w", args[0], err)
	}
	return nil
}

// fileOf is the file of a target, from the module's folder.
func fileOf(t target) (string, error) {
	tests, err := filepath.Glob(filepath.Join(filepath.FromSlash(t.room), "*_test.go"))
	if err != nil {
		return "", err
	}
	for _, name := range tests {
		body, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		if strings.Contains(string(body), "\nfunc "+t.name+"(") {
			return filepath.ToSlash(name), nil
		}
	}
	return "", fmt.Errorf("no file of %s has the target %s", t.room, t.name)
}
