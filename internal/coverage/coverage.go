// Package coverage builds the tests of a room, runs some of them, and says which
// statements of the module they executed, and how often: for choosing inputs of fuzz
// targets, and for showing that a target reaches what it is there for.
//
// It refuses to sum up: a share of statements says little about a parser.
package coverage

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Profile is how often each block of statements was executed, by its place as the
// profile of a test names it: path of the package and file, and where it begins and
// ends, such as "queuebench/stats/q.go:12.3,14.5".
type Profile map[string]int64

// Build builds the tests of a room, "./stats", of which the statements of packages are
// counted, all of the module that the room imports, and itself.
func Build(ctx context.Context, room, program string) error {
	module, err := exec.CommandContext(ctx, "go", "list", "-m").Output()
	if err != nil {
		return fmt.Errorf("go list -m: %w", err)
	}
	name := strings.TrimSpace(string(module))
	deps, err := exec.CommandContext(ctx, "go", "list", "-deps", room).Output()
	if err != nil {
		return fmt.Errorf("go list -deps %s: %w", room, err)
	}
	var ours []string
	for p := range strings.FieldsSeq(string(deps)) {
		if p == name || strings.HasPrefix(p, name+"/") {
			ours = append(ours, p)
		}
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-covermode=count", "-coverpkg="+strings.Join(ours, ","), "-o", program, room)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c %s: %w\n%s", room, err, out)
	}
	return nil
}

// Run runs the tests of such a program that an expression finds, in the folder of
// their room.
func Run(ctx context.Context, program, dir, tests string) (Profile, error) {
	file, err := os.CreateTemp("", "queuebench-coverage-")
	if err != nil {
		return nil, err
	}
	file.Close()
	defer os.Remove(file.Name())
	if program, err = filepath.Abs(program); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "-test.run="+tests, "-test.coverprofile="+file.Name())
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", tests, err, out)
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		return nil, err
	}
	return parse(text)
}

// parse reads a profile as the testing package writes it.
func parse(text []byte) (Profile, error) {
	p := Profile{}
	for line := range bytes.Lines(text) {
		line := strings.TrimSpace(string(line))
		if line == "" || strings.HasPrefix(line, "mode: ") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("no line of a profile: %q", line)
		}
		n, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("no line of a profile: %q: %w", line, err)
		}
		p[fields[0]] += n
	}
	return p, nil
}

// Beyond are the blocks that p executed more often than q did.
func (p Profile) Beyond(q Profile) (blocks []string) {
	for block, n := range p {
		if n > q[block] {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// New says whether p executed a block that q never did.
func (p Profile) New(q Profile) bool {
	for block, n := range p {
		if n > 0 && q[block] == 0 {
			return true
		}
	}
	return false
}

// Add adds what q executed.
func (p Profile) Add(q Profile) {
	for block, n := range q {
		p[block] += n
	}
}

// Place is a block's file, and the line in which it begins.
func Place(block string) (file string, line int, ok bool) {
	colon := strings.LastIndexByte(block, ':')
	if colon < 0 {
		return "", 0, false
	}
	text, _, _ := strings.Cut(block[colon+1:], ".")
	line, err := strconv.Atoi(text)
	return block[:colon], line, err == nil
}
