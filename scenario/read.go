package scenario

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"queuebench/internal/nearest"
	"queuebench/internal/yamlfile"
)

// Open reads the scenario file at path.
func Open(path string) (*File, error) {
	root, err := yamlfile.Open(path)
	if err != nil {
		return nil, err
	}
	return fromNode(path, root)
}

// reader reads the fields of a file.
type reader struct {
	path string
	dir  string // absolute, of the file
}

// fields are the keys that a mapping may have, each with what reads it.
type fields map[string]func(*yamlfile.Node) error

func (r *reader) errorf(line int, format string, a ...any) error {
	return &yamlfile.Error{File: r.path, Line: line, Text: fmt.Sprintf(format, a...)}
}

// mapping reads a mapping, each of whose keys must be known.
func (r *reader) mapping(n *yamlfile.Node, what string, known fields) error {
	if n.Kind != yamlfile.Map {
		return r.errorf(n.Line, "%s is %s: write \"key: value\" lines", what, n.Kind)
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		read := known[f.Name]
		if read == nil {
			var names []string
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			return r.errorf(f.Line, "%.60q is no key of %s%s: it has %s", f.Name, what, nearest.DidYouMean(f.Name, names), strings.Join(names, ", "))
		}
		if err := read(&f.Value); err != nil {
			return err
		}
	}
	return nil
}

// list reads a list of mappings.
func (r *reader) list(n *yamlfile.Node, what string, each func(*yamlfile.Node) error) error {
	if n.Kind != yamlfile.List {
		return r.errorf(n.Line, "%s is %s: write a list", what, n.Kind)
	}
	if len(n.Items) > maxParts {
		return r.errorf(n.Line, "%s has %d entries, more than %d", what, len(n.Items), maxParts)
	}
	for i := range n.Items {
		if err := each(&n.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// text returns what reads a scalar into out.
func (r *reader) text(what string, out *string) func(*yamlfile.Node) error {
	return func(n *yamlfile.Node) error {
		if !n.Scalar() || strings.ContainsRune(n.Value, 0) {
			return r.errorf(n.Line, "%s is %s: write a text", what, n.Kind)
		}
		*out = strings.TrimSpace(n.Value)
		return nil
	}
}

// duration returns what reads a time that is at least least.
func (r *reader) duration(what string, least time.Duration, out *time.Duration) func(*yamlfile.Node) error {
	return func(n *yamlfile.Node) error {
		d, err := time.ParseDuration(n.Value)
		if n.Kind == yamlfile.Whole && n.Value == "0" {
			d, err = 0, nil
		}
		if err != nil || !n.Scalar() {
			return r.errorf(n.Line, "%s: write a time such as 500ms or 10s", what)
		}
		if d < least || d > maxTime {
			return r.errorf(n.Line, "%s %v is not between %v and %v", what, d, least, maxTime)
		}
		*out = d
		return nil
	}
}

// whole returns what reads a whole number from lo to hi.
func (r *reader) whole(what string, lo, hi int, out *int) func(*yamlfile.Node) error {
	return func(n *yamlfile.Node) error {
		v, err := strconv.Atoi(n.Value)
		if err != nil || n.Kind != yamlfile.Whole || v < lo || v > hi {
			return r.errorf(n.Line, "%s: write a whole number from %d to %d", what, lo, hi)
		}
		*out = v
		return nil
	}
}

// command returns what reads a list of arguments, or a shell's text.
func (r *reader) command(what string, out *Command) func(*yamlfile.Node) error {
	return func(n *yamlfile.Node) error {
		out.Line = n.Line
		switch n.Kind {
		case yamlfile.Map:
			if err := r.mapping(n, what, fields{"shell": r.text(what, &out.Shell)}); err != nil {
				return err
			}
		case yamlfile.List:
			for i := range n.Items {
				item := &n.Items[i]
				if !item.Scalar() || strings.ContainsRune(item.Value, 0) {
					return r.errorf(item.Line, "%s: an argument is %s: write a text or a number", what, item.Kind)
				}
				out.Args = append(out.Args, item.Value)
			}
		default:
			return r.errorf(n.Line, "%s is %s: write the program and its arguments as a list, such as [redis-server, --port, 7000], or {shell: \"…\"} for a shell", what, n.Kind)
		}
		if out.IsZero() || out.Shell == "" && out.Args[0] == "" {
			return r.errorf(n.Line, "%s names no program", what)
		}
		return nil
	}
}

// env returns what reads environment variables.
func (r *reader) env(what string, out *[]Env) func(*yamlfile.Node) error {
	return func(n *yamlfile.Node) error {
		if n.Kind != yamlfile.Map {
			return r.errorf(n.Line, "%s is %s: write \"NAME: value\" lines", what, n.Kind)
		}
		for i := range n.Fields {
			f := &n.Fields[i]
			if f.Name == "" || strings.ContainsAny(f.Name, "=\x00") || !f.Value.Scalar() || strings.ContainsRune(f.Value.Value, 0) {
				return r.errorf(f.Line, "%s: %.60q is no variable with a text", what, f.Name)
			}
			*out = append(*out, Env{f.Name, f.Value.Value})
		}
		return nil
	}
}

// directory returns what reads a folder, taken from where the file lies.
func (r *reader) directory(out *string) func(*yamlfile.Node) error {
	return func(n *yamlfile.Node) error {
		if err := r.text("directory", out)(n); err != nil {
			return err
		}
		if !filepath.IsAbs(*out) && !strings.HasPrefix(*out, "${") {
			*out = filepath.Join(r.dir, *out)
		}
		return nil
	}
}
