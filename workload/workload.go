// Package workload reads workload files: the settings of a load, in YAML, under
// the names of the flags that they stand for. Files of the OpenMessaging
// Benchmark are read too, and translated.
//
// It knows flags by name and type only, as its caller lists them. It refuses
// what it does not know, with the line and the nearest name that it does; what
// a file of others says and has no counterpart here becomes a note, which
// belongs to the run. Whether a value makes sense is for the command that takes
// the flag.
package workload

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"queuebench/internal/nearest"
	"queuebench/internal/yamlfile"
)

// Kind is the type of a setting.
type Kind int

// The types of a setting.
const (
	Text     Kind = iota // text, or a number as it is written
	Whole                // a whole number
	Natural              // a whole number, not negative
	Number               // a finite number
	Duration             // text such as 100ms
	Bool
	List // one or several texts or numbers
)

// Setting is a flag that a workload may give.
type Setting struct {
	Name string
	Kind Kind
	// Of names the commands that have the flag. A file is refused that gives a
	// flag which the command at hand has not.
	Of []string
}

// Known are the flags of all commands.
type Known []Setting

func (k Known) named(name string) *Setting {
	for i := range k {
		if k[i].Name == name {
			return &k[i]
		}
	}
	return nil
}

// Names are the names of all flags.
func (k Known) Names() []string { return k.of("") }

// of are the names of the flags that a command has.
func (k Known) of(command string) (names []string) {
	for i := range k {
		if command == "" || slices.Contains(k[i].Of, command) {
			names = append(names, k[i].Name)
		}
	}
	return names
}

// Value is what a file gives a flag.
type Value struct {
	Name  string
	Texts []string // several only of a List, or of what varies
	Line  int
}

// File is a workload.
type File struct {
	Path        string // as it was named
	Name        string
	Description string
	Command     string // the command that it is for; empty where it leaves that open
	Values      []Value
	Vary        []Value // each combination of these runs as a step
	// Format is "workload", or the name of another project's.
	Format string
	// Notes are what a file of others asks for and does not get, a sentence
	// each.
	Notes []string
}

// Formats.
const (
	Native        = "workload"
	OpenMessaging = "OpenMessaging Benchmark"
)

// Open reads the workload file at path, "-" for standard input. command is the
// one that will take its settings.
func Open(path, command string, known Known) (*File, error) {
	root, err := yamlfile.Open(path)
	if err != nil {
		return nil, err
	}
	return FromNode(path, command, root, known)
}

// FromNode reads a workload that is a document or a part of one. path is the
// file's, for messages.
func FromNode(path, command string, root *yamlfile.Node, known Known) (*File, error) {
	if isOpenMessaging(root) {
		return fromOpenMessaging(path, command, root, known)
	}
	f := &File{Path: path, Format: Native}
	for i := range root.Fields {
		if err := f.field(&root.Fields[i]); err != nil {
			return nil, err
		}
	}
	if err := f.isFor(command, root); err != nil {
		return nil, err
	}
	for i := range root.Fields {
		field := &root.Fields[i]
		switch field.Name {
		case "name", "description", "command":
			continue
		case "vary":
			if err := f.vary(command, field, known); err != nil {
				return nil, err
			}
			continue
		}
		v, err := Read(path, command, field, known)
		if err != nil {
			return nil, err
		}
		f.Values = append(f.Values, v)
	}
	return f, nil
}

// own are the keys of a workload that are no flags.
var own = []string{"name", "description", "command", "vary"}

// field reads what says something about the file itself.
func (f *File) field(field *yamlfile.Field) error {
	into := map[string]*string{"name": &f.Name, "description": &f.Description, "command": &f.Command}[field.Name]
	if into == nil {
		return nil
	}
	if !field.Value.Scalar() {
		return errorf(f.Path, field.Value.Line, "%s is %s: write a text", field.Name, field.Value.Kind)
	}
	*into = strings.TrimSpace(field.Value.Value)
	return nil
}

func (f *File) isFor(command string, root *yamlfile.Node) error {
	if f.Command == "" || command == "" || f.Command == command {
		return nil
	}
	line := root.Line
	if n := root.Field("command"); n != nil {
		line = n.Line
	}
	return errorf(f.Path, line, "this workload is for `bench %[1]s`: run `bench %[1]s --workload %[2]s`", f.Command, f.Path)
}

// vary reads the settings that vary, each with the list of its values.
func (f *File) vary(command string, field *yamlfile.Field, known Known) error {
	if field.Value.Kind != yamlfile.Map {
		return errorf(f.Path, field.Value.Line, "vary is %s: write a flag and its values on each line below it, such as \"consumers: [1, 2, 4]\"", field.Value.Kind)
	}
	for i := range field.Value.Fields {
		one := &field.Value.Fields[i]
		if one.Value.Kind != yamlfile.List || len(one.Value.Items) == 0 {
			return errorf(f.Path, one.Line, "what varies needs the list of its values, such as \"%s: [1, 2, 4]\"", one.Name)
		}
		v := Value{Name: one.Name, Line: one.Line}
		for _, item := range one.Value.Items {
			read, err := Read(f.Path, command, &yamlfile.Field{Name: one.Name, Line: item.Line, Value: item}, known)
			if err != nil {
				return err
			}
			if len(read.Texts) != 1 {
				return errorf(f.Path, item.Line, "%s: a list of lists: a step has one of the values", one.Name)
			}
			v.Texts = append(v.Texts, read.Texts[0])
		}
		f.Vary = append(f.Vary, v)
	}
	return nil
}

// Read reads one setting, which must be a flag of the command.
func Read(path, command string, field *yamlfile.Field, known Known) (Value, error) {
	s := known.named(field.Name)
	if s == nil {
		return Value{}, errorf(path, field.Line, "%.60q is no setting%s", field.Name, nearest.DidYouMean(field.Name, append(known.of(command), own...)))
	}
	if command != "" && !slices.Contains(s.Of, command) {
		return Value{}, errorf(path, field.Line, "%q is no setting of `bench %s` but of `bench %s`", field.Name, command, strings.Join(s.Of, "`, `bench "))
	}
	texts, err := s.texts(&field.Value)
	if err != nil {
		return Value{}, errorf(path, field.Value.Line, "%s: %v", field.Name, err)
	}
	return Value{Name: field.Name, Texts: texts, Line: field.Line}, nil
}

// texts are the values of a setting as a command line has them.
func (s *Setting) texts(n *yamlfile.Node) ([]string, error) {
	if s.Kind == List && n.Kind == yamlfile.List {
		var all []string
		for i := range n.Items {
			text, err := s.text(&n.Items[i])
			if err != nil {
				return nil, err
			}
			all = append(all, text)
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("the list is empty: leave the setting out, or give it a value")
		}
		return all, nil
	}
	text, err := s.text(n)
	return []string{text}, err
}

func (s *Setting) text(n *yamlfile.Node) (string, error) {
	number := n.Kind == yamlfile.Whole || n.Kind == yamlfile.Number
	switch s.Kind {
	case Text, List:
		if n.Kind == yamlfile.Text || number {
			return n.Value, nil
		}
		return "", fmt.Errorf("it is %s: write a text or a number", n.Kind)
	case Whole:
		if _, err := strconv.ParseInt(n.Value, 10, 64); err == nil && n.Kind == yamlfile.Whole {
			return n.Value, nil
		}
		return "", fmt.Errorf("%s: write a whole number", told(n))
	case Natural:
		if _, err := strconv.ParseUint(n.Value, 10, 64); err == nil && n.Kind == yamlfile.Whole {
			return n.Value, nil
		}
		return "", fmt.Errorf("%s: write a whole number that is not negative", told(n))
	case Number:
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil && number && !math.IsInf(v, 0) && !math.IsNaN(v) {
			return n.Value, nil
		}
		return "", fmt.Errorf("%s: write a number", told(n))
	case Duration:
		if _, err := time.ParseDuration(n.Value); err == nil && n.Kind == yamlfile.Text {
			return n.Value, nil
		}
		return "", fmt.Errorf("%s: write a time such as 100ms, 10s or 1h30m", told(n))
	case Bool:
		if n.Kind == yamlfile.Bool {
			return n.Value, nil
		}
		return "", fmt.Errorf("%s: write true or false", told(n))
	}
	return "", fmt.Errorf("a setting of kind %d", s.Kind)
}

// told names what stands in the place of a value.
func told(n *yamlfile.Node) string {
	if n.Scalar() {
		return fmt.Sprintf("%.60q is %s", n.Value, n.Kind)
	}
	return "it is " + n.Kind.String()
}

func errorf(path string, line int, format string, a ...any) error {
	return &yamlfile.Error{File: path, Line: line, Text: fmt.Sprintf(format, a...)}
}
