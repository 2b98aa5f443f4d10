// Package yamlfile reads a YAML document that a person wrote into a plain tree
// whose every part knows its line.
//
// It is for files that are settings: small, strict, and told apart from a
// mistake. It refuses more than one document, keys that come twice or are no
// text, merge keys, tags of one's own, and whatever grows beyond its limits;
// aliases are expanded, and what they expand to counts. It decides nothing
// about what the keys mean.
package yamlfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits of a document.
const (
	MaxBytes = 256 << 10 // of the file
	MaxNodes = 20_000    // after aliases were expanded
	MaxDepth = 32
)

// Kind is what a node is.
type Kind int

// The kinds of a node.
const (
	Null Kind = iota
	Text
	Whole  // a whole number
	Number // any other number
	Bool
	List
	Map
)

var kindNames = [...]string{"nothing", "text", "a whole number", "a number", "true or false", "a list", "a mapping"}

// String names the kind for a message.
func (k Kind) String() string { return kindNames[k] }

// Node is a part of a document.
type Node struct {
	Line   int // from 1; of an alias, where it stands
	Kind   Kind
	Value  string  // of a scalar, as written; numbers are decimal, true or false
	Items  []Node  // of a list
	Fields []Field // of a mapping, in the order of the file
}

// Field is a key of a mapping with its value.
type Field struct {
	Name  string
	Line  int
	Value Node
}

// Scalar says that the node is a single value.
func (n *Node) Scalar() bool {
	return n.Kind == Text || n.Kind == Whole || n.Kind == Number || n.Kind == Bool
}

// Field is the value of a key, nil where there is none.
func (n *Node) Field(name string) *Node {
	for i := range n.Fields {
		if n.Fields[i].Name == name {
			return &n.Fields[i].Value
		}
	}
	return nil
}

// Error is a mistake at a line of a file.
type Error struct {
	File string
	Line int // 0 where none is known
	Text string
}

// Error is the file, the line and what is wrong there.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Text)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
}

// Open reads the file at path; "-" is standard input.
func Open(path string) (*Node, error) {
	if path == "-" {
		return Read("standard input", os.Stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(path, f)
}

// Read reads a document, which must be a mapping. name is for messages.
func Read(name string, r io.Reader) (*Node, error) {
	body, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(body) > MaxBytes {
		return nil, &Error{File: name, Text: fmt.Sprintf("the file is larger than %d bytes", MaxBytes)}
	}
	dec := yaml.NewDecoder(strings.NewReader(string(body)))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &Error{File: name, Text: "the file says nothing"}
	case err != nil:
		return nil, syntax(name, err)
	}
	var second yaml.Node
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, &Error{name, second.Line, "a second document begins here: a file is one document"}
	case !errors.Is(err, io.EOF):
		return nil, syntax(name, err)
	}
	w := walk{file: name}
	var root Node
	if err := w.node(&doc, &root, 0, 0); err != nil {
		return nil, err
	}
	if root.Kind != Map {
		return nil, &Error{name, root.Line, fmt.Sprintf("the file is %s: it is lines of the form \"key: value\"", root.Kind)}
	}
	return &root, nil
}

// lineOf is how the library names a line.
var lineOf = regexp.MustCompile(`^yaml: line (\d+): (?s:(.*))$`)

func syntax(file string, err error) error {
	text := err.Error()
	if m := lineOf.FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[1]) // digits; 0 where they are too many
		return &Error{file, line, "this is no YAML: " + m[2]}
	}
	return &Error{File: file, Text: "this is no YAML: " + strings.TrimPrefix(text, "yaml: ")}
}

// walk turns the library's nodes into ours, and counts them.
type walk struct {
	file  string
	nodes int
}

func (w *walk) errorf(line int, format string, a ...any) error {
	return &Error{w.file, line, fmt.Sprintf(format, a...)}
}

// node reads n. alias is the line of the alias by which it is reached, or 0.
func (w *walk) node(n *yaml.Node, out *Node, depth, alias int) error {
	out.Line = n.Line
	if alias > 0 {
		out.Line = alias
	}
	if w.nodes++; w.nodes > MaxNodes {
		return w.errorf(out.Line, "the file holds more than %d values, aliases expanded", MaxNodes)
	}
	if depth > MaxDepth {
		return w.errorf(out.Line, "values lie within each other more than %d deep", MaxDepth)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return w.node(n.Content[0], out, depth, alias)
	case yaml.AliasNode:
		return w.node(n.Alias, out, depth+1, out.Line)
	case yaml.SequenceNode:
		return w.list(n, out, depth, alias)
	case yaml.MappingNode:
		return w.mapping(n, out, depth, alias)
	}
	return w.scalar(n, out)
}

func (w *walk) list(n *yaml.Node, out *Node, depth, alias int) error {
	if n.ShortTag() != "!!seq" {
		return w.errorf(out.Line, "the tag %.40q is not known", n.Tag)
	}
	out.Kind = List
	for _, item := range n.Content {
		var next Node
		if err := w.node(item, &next, depth+1, alias); err != nil {
			return err
		}
		out.Items = append(out.Items, next)
	}
	return nil
}

func (w *walk) mapping(n *yaml.Node, out *Node, depth, alias int) error {
	if n.ShortTag() != "!!map" {
		return w.errorf(out.Line, "the tag %.40q is not known", n.Tag)
	}
	out.Kind = Map
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		line := key.Line
		if alias > 0 {
			line = alias
		}
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch tag := key.ShortTag(); {
		case key.Kind == yaml.ScalarNode && tag == "!!merge":
			return w.errorf(line, "merge keys (<<) are not read: write the values out")
		case key.Kind != yaml.ScalarNode || tag == "!!null" || tag == "!!binary" || !strings.HasPrefix(tag, "!!"):
			return w.errorf(line, "a key here is no name")
		}
		if w.nodes++; w.nodes > MaxNodes {
			return w.errorf(line, "the file holds more than %d values, aliases expanded", MaxNodes)
		}
		if first, twice := lines[key.Value]; twice {
			return w.errorf(line, "the key %.60s comes twice: it is at line %d too", key.Value, first)
		}
		lines[key.Value] = line
		field := Field{Name: key.Value, Line: line}
		if err := w.node(n.Content[i+1], &field.Value, depth+1, alias); err != nil {
			return err
		}
		out.Fields = append(out.Fields, field)
	}
	return nil
}

func (w *walk) scalar(n *yaml.Node, out *Node) error {
	out.Value = n.Value
	switch tag := n.ShortTag(); tag {
	case "!!null":
		out.Kind = Null
	case "!!str", "!!timestamp":
		out.Kind = Text
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			return w.errorf(out.Line, "%.40q is neither true nor false", n.Value)
		}
		out.Kind, out.Value = Bool, strconv.FormatBool(b)
	case "!!int":
		return w.whole(n, out)
	case "!!float":
		var f float64
		if err := n.Decode(&f); err != nil {
			return w.errorf(out.Line, "%.40q is no number", n.Value)
		}
		out.Kind, out.Value = Number, strconv.FormatFloat(f, 'f', -1, 64)
	default:
		return w.errorf(out.Line, "the tag %.40q is not known", n.Tag)
	}
	return nil
}

func (w *walk) whole(n *yaml.Node, out *Node) error {
	out.Kind = Whole
	var i int64
	var u uint64
	switch {
	case n.Decode(&i) == nil:
		out.Value = strconv.FormatInt(i, 10)
	case n.Decode(&u) == nil:
		out.Value = strconv.FormatUint(u, 10)
	default:
		return w.errorf(out.Line, "%.40q is no whole number of 64 bits", n.Value)
	}
	return nil
}
