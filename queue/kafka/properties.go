package kafka

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
)

// Property is a setting as somebody wrote it.
type Property struct {
	Name, Value string
	Line        int    // from 1, in a file
	From        string // where it was written, for messages
}

// ParseProperties reads a file of settings: a name=value a line, split at the
// first "=", with blanks around both ignored. Lines that are empty or begin with
// "#" or "!" say nothing. An error names the line and never a value.
func ParseProperties(text []byte) ([]Property, error) {
	var all []Property
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("line %d is no name=value", n)
		}
		all = append(all, Property{Name: name, Value: strings.TrimSpace(value), Line: n})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("a line is longer than a megabyte: %w", err)
	}
	return all, nil
}

// Apply sets properties, the later over the earlier, and checks what they need
// of one another. notes are of those that have no effect here.
func (s *Settings) Apply(all []Property) (notes []string, err error) {
	idempotence, groups := false, ""
	for _, p := range all {
		note, err := s.Set(p.Name, p.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.From, err)
		}
		if note != "" {
			notes = append(notes, note)
		}
		switch {
		case p.Name == "enable.idempotence":
			idempotence = true
		case OfGroup(p.Name):
			groups = p.Name
		}
	}
	if s.Producer.Acks != -1 && !idempotence {
		s.Producer.Idempotent = false // nobody asked for it by name
	}
	if groups != "" && s.Consumer.Group == "" {
		return nil, fmt.Errorf("kafka: group.id is missing: %s is a setting of a consumer group, so the group needs a name, as in group.id=NAME; without settings of a group each run has a group of its own", groups)
	}
	return notes, nil
}
