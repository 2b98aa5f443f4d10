package importer

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/rawlog"
)

// Role is what a column of a plain table is.
type Role string

// The roles. A row is a message; what is null did not happen.
const (
	Intended Role = "intended" // when the schedule wanted it sent
	Sent     Role = "sent"     // when it was sent
	Acked    Role = "acked"    // when it was acknowledged
	Received Role = "received" // when it was received
	Latency  Role = "latency"  // a duration, in the place of received
	Series   Role = "series"   // a text: each value is a step of its own
)

var roles = []Role{Intended, Sent, Acked, Received, Latency, Series}

// Column is a named column of a plain table.
type Column struct {
	Role Role
	Name string
	// Unit of its numbers; 0 where the values say it themselves (RFC 3339, or a
	// Parquet type).
	Unit time.Duration
}

// ParseColumns reads "intended=created_ms,received=got:us": the unit of numbers
// is that behind the colon, or at the end of the column's name (_ns, _us, _ms,
// _s); text is RFC 3339.
func ParseColumns(text string) ([]Column, error) {
	var out []Column
	for field := range strings.SplitSeq(text, ",") {
		role, name, ok := strings.Cut(field, "=")
		c := Column{Role: Role(strings.TrimSpace(role)), Name: strings.TrimSpace(name)}
		if !ok || c.Name == "" || !slices.Contains(roles, c.Role) {
			return nil, fmt.Errorf("column %q: write ROLE=NAME with one of the roles %v", field, roles)
		}
		if slices.ContainsFunc(out, func(o Column) bool { return o.Role == c.Role }) {
			return nil, fmt.Errorf("the role %s is given twice", c.Role)
		}
		if at := strings.LastIndex(c.Name, ":"); at > 0 {
			if unit, err := ParseUnit(c.Name[at+1:]); err == nil {
				c.Name, c.Unit = c.Name[:at], unit
			}
		}
		if at := strings.LastIndex(c.Name, "_"); at > 0 && c.Unit == 0 && c.Role != Series {
			c.Unit = unitNames[c.Name[at+1:]]
		}
		out = append(out, c)
	}
	has := func(r Role) bool { return slices.ContainsFunc(out, func(c Column) bool { return c.Role == r }) }
	switch {
	case !has(Received) && !has(Latency) && !has(Acked):
		return nil, errors.New("no column is received, acked or latency: nothing can be measured")
	case has(Received) && has(Latency):
		return nil, errors.New("a column is received and another is latency: give one of the two")
	case !has(Latency) && !has(Intended) && !has(Sent):
		return nil, errors.New("no column is intended or sent: a latency begins at one of the two")
	}
	return out, nil
}

// Cell is a value of a row. Ns is a time since the epoch, or a duration of the
// role Latency.
type Cell struct {
	Null bool
	Ns   int64
	Text string // of the role Series
}

// Table takes the rows of a plain table.
type Table struct {
	source  *source
	columns []Column
	series  *series
	at      map[Role]int
}

// NewTable returns a table without rows, of a file of a name.
func NewTable(name string, columns []Column) *Table {
	t := &Table{source: &source{name: name}, columns: columns, series: newSeries("series"), at: map[Role]int{}}
	for i, c := range columns {
		t.at[c.Role] = i
	}
	return t
}

// get is the value of a role, and whether it is there.
func (t *Table) get(cells []Cell, r Role) (int64, bool) {
	i, ok := t.at[r]
	if !ok || cells[i].Null {
		return 0, false
	}
	return cells[i].Ns, true
}

// Add takes a row: a cell for each of the columns, in their order.
func (t *Table) Add(cells []Cell) error {
	name := ""
	if i, ok := t.at[Series]; ok {
		name = cells[i].Text
	}
	c, err := t.series.of(name)
	if err != nil {
		return err
	}
	_, scheduled := t.at[Intended]
	intended, hasIntended := t.get(cells, Intended)
	sent, hasSent := t.get(cells, Sent)
	begin, known := intended, hasIntended
	if !scheduled {
		begin, known = sent, hasSent
	}
	if _, timed := t.at[Sent]; !timed && !scheduled {
		known = true
		c.timeless = true
	}
	if !known {
		return errors.New("neither an intended time nor one of sending: a row must have the one that was named")
	}
	b, err := c.row(begin, time.Nanosecond)
	if err != nil {
		return err
	}
	// Without a schedule the latency is that of the table's own.
	endToEnd, publish := analysis.Imported, analysis.Imported
	_, delivers := t.at[Received]
	_, measures := t.at[Latency]
	delivers = delivers || measures
	if scheduled {
		endToEnd, publish = analysis.EndToEnd, analysis.Publish
	}
	c.acc.Attempted++
	if scheduled && hasSent {
		c.record(b, analysis.SendLag, sent-intended)
	}
	acked, hasAcked := t.get(cells, Acked)
	_, acknowledges := t.at[Acked]
	switch {
	case hasAcked:
		c.acc.Acked++
		if scheduled || !delivers {
			c.record(b, publish, acked-begin)
		}
	case acknowledges:
		c.acc.Unconfirmed++
		if scheduled || !delivers {
			b.infinite[publish]++
		}
	default:
		c.acc.Acked++
	}
	received, arrived := t.get(cells, Received)
	if ns, ok := t.get(cells, Latency); ok {
		received, arrived = begin+ns, true
	}
	switch {
	case arrived:
		if received < begin {
			c.acc.Negative++
		}
		if acknowledges && !hasAcked {
			c.acc.ReceivedUnacked++
		}
		if c.record(b, endToEnd, received-begin) {
			c.arrived(received)
		}
		if scheduled && hasSent {
			c.record(b, analysis.EndToEndFromSend, received-sent)
		}
	case delivers && (hasAcked || !acknowledges):
		c.acc.Lost++
		b.infinite[endToEnd]++
		if scheduled {
			b.infinite[analysis.EndToEndFromSend]++
		}
	}
	return nil
}

// Digest is what the rows say.
func (t *Table) Digest() (*analysis.Digest, error) {
	about := rawlog.Import{Format: "columns of a table", Percentiles: computedHere}
	var parts []string
	for _, c := range t.columns {
		parts = append(parts, fmt.Sprintf("%s is %s", c.Role, c.Name))
	}
	_, scheduled := t.at[Intended]
	about.Latency = strings.Join(parts, ", ")
	if !scheduled {
		about.Notes = append(about.Notes, "no column is the intended time: what a busy sender began late is missing (coordinated omission)")
	}
	d := t.source.digest("a table", about)
	return d, t.series.addTo(d, t.source)
}

// nullTexts stand for a value that is not there.
var nullTexts = []string{"", "null", "NULL", "NaN", "nan", "None", `\N`}

func readColumns(s *source) (*analysis.Digest, error) {
	head, err := s.r.Peek(headSize)
	if len(head) == 0 {
		return nil, s.fail(0, "it is empty: %w", err)
	}
	if bytes.HasPrefix(head, []byte("PAR1")) {
		return nil, s.fail(0, "it is Parquet, which is not read as CSV")
	}
	comma := ','
	for _, r := range ";\t|" {
		if line := firstLine(head); bytes.Count(line, []byte(string(r))) > bytes.Count(line, []byte(string(comma))) {
			comma = r
		}
	}
	t := NewTable(s.name, s.opt.Columns)
	var at []int
	width := 0
	cells := make([]Cell, len(t.columns))
	err = s.eachRecord(comma, func(f []string) error {
		if at == nil {
			width = len(f)
			for _, c := range t.columns {
				i := slices.IndexFunc(f, func(name string) bool { return strings.TrimSpace(name) == c.Name })
				if i < 0 {
					return fmt.Errorf("there is no column %q; there are %.300s", c.Name, strings.Join(f, ", "))
				}
				at = append(at, i)
			}
			return nil
		}
		if len(f) != width {
			return fmt.Errorf("%d columns, the header has %d", len(f), width)
		}
		for i, c := range t.columns {
			if cells[i], err = c.cell(strings.TrimSpace(f[at[i]])); err != nil {
				return fmt.Errorf("column %s: %w", c.Name, err)
			}
		}
		return t.Add(cells)
	})
	if err != nil {
		return nil, err
	}
	return t.Digest()
}

// cell reads a text.
func (c Column) cell(text string) (Cell, error) {
	if c.Role == Series {
		return Cell{Text: text}, nil
	}
	if slices.Contains(nullTexts, text) {
		return Cell{Null: true}, nil
	}
	if c.Unit > 0 {
		ns, err := scaled(text, c.Unit)
		if err == nil || c.Role == Latency || errors.Is(err, errRange) {
			return Cell{Ns: ns}, err
		}
	}
	if c.Role != Latency && strings.ContainsAny(text, "-:T") && len(text) >= 19 {
		ns, _, err := stamp(text)
		return Cell{Ns: ns}, err
	}
	if c.Unit > 0 {
		return Cell{}, fmt.Errorf("%.40q is neither a number nor a time", text)
	}
	return Cell{}, fmt.Errorf("%.40q has no unit: say it behind the column's name, such as %s=%s:ms", text, c.Role, c.Name)
}
