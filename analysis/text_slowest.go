package analysis

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"queuebench/internal/columns"
	"queuebench/rawlog"
)

// SlowestNote says what the tables of slowest messages are of.
var SlowestNote = fmt.Sprintf("The %d slowest of the cut under which the log was read, and the slowest of each fiftieth of the step, by end-to-end latency; of these, those in what is looked at. Intended: since the start of the step. Sent, acknowledged, broker and received: since intended. A message that never came has no row.", slowestOverall)

// SlowestHeader names the columns of a table of slowest messages: those that any
// of them has.
func SlowestHeader(all []SlowMessage) []string {
	out := []string{"producer", "seq", "partition"}
	if slices.ContainsFunc(all, func(m SlowMessage) bool { return m.Group != all[0].Group }) {
		out = append(out, "group")
	}
	if slices.ContainsFunc(all, func(m SlowMessage) bool { return m.Consumer != all[0].Consumer }) {
		out = append(out, "consumer")
	}
	out = append(out, "intended", "sent", "acknowledged")
	if slices.ContainsFunc(all, func(m SlowMessage) bool { return m.Broker != rawlog.Null }) {
		out = append(out, "broker")
	}
	return append(out, "received", "most of it")
}

// Cells is a message as a row of such a table.
func (m *SlowMessage) Cells(header []string) []string {
	since := func(ns int64) string {
		if ns == rawlog.Null {
			return Dash
		}
		return FormatLatency(ns - m.Intended)
	}
	var out []string
	for _, name := range header {
		cell := ""
		switch name {
		case "producer":
			cell = strconv.FormatInt(m.Producer, 10)
		case "seq":
			cell = strconv.FormatInt(m.Seq, 10)
		case "partition":
			if cell = strconv.FormatInt(m.Partition, 10); m.Partition < 0 {
				cell = Dash
			}
		case "group":
			cell = m.Group
		case "consumer":
			cell = m.Consumer
		case "intended":
			cell = strconv.FormatFloat(time.Duration(m.Intended).Seconds(), 'f', 6, 64) + " s"
		case "sent":
			cell = since(m.Sent)
		case "acknowledged":
			cell = since(m.Acked)
		case "broker":
			cell = since(m.Broker)
		case "received":
			cell = since(m.Received)
		case "most of it":
			if s, ok := m.Longest(); ok {
				cell = s.Name + ", " + FormatLatency(s.Ns)
			}
		}
		out = append(out, cell)
	}
	return out
}

// SlowestSchema is the schema of the JSON of the slowest messages.
const SlowestSchema = "queuebench.slowest/1"

// Slowest are the slowest messages of a run under a view, by step.
type Slowest struct {
	Schema string          `json:"schema"`
	Run    string          `json:"run"`
	Steps  []SlowestOfStep `json:"steps"`
}

// SlowestOfStep are those of a repeat of a step, the slowest first.
type SlowestOfStep struct {
	Step     int              `json:"step"`
	Repeat   int              `json:"repeat"`
	Rate     float64          `json:"rate"`
	StartNs  int64            `json:"start_ns"` // ns since the epoch
	Messages []SlowestMessage `json:"messages"`

	name string
	all  []SlowMessage
}

// SlowestMessage is a message with its times in ns since the epoch.
type SlowestMessage struct {
	Producer   int64   `json:"producer"`
	Seq        int64   `json:"seq"`
	Partition  *int64  `json:"partition"` // null where it is not known, as below
	Group      string  `json:"group"`
	Consumer   string  `json:"consumer,omitempty"`
	IntendedNs int64   `json:"intended_ns"`
	SentNs     *int64  `json:"sent_ns"`
	AckedNs    *int64  `json:"acked_ns"`
	BrokerNs   *int64  `json:"broker_ns"`
	ReceivedNs int64   `json:"received_ns"`
	LatencyNs  int64   `json:"latency_ns"`
	Stages     []Stage `json:"stages"`
}

// SlowestIn gathers the slowest messages of d under v; step and repeat choose
// one, −1 all of them.
func SlowestIn(d *Digest, v View, step, repeat int) Slowest {
	sum := Summarize(d, v)
	out := Slowest{Schema: SlowestSchema, Run: d.Manifest.Run, Steps: []SlowestOfStep{}}
	for i := range d.Steps {
		s := &d.Steps[i]
		if step >= 0 && s.Step != step || repeat >= 0 && s.Repeat != repeat {
			continue
		}
		x := SlowestOfStep{Step: s.Step, Repeat: s.Repeat, Rate: s.Rate, StartNs: s.StartNs, Messages: []SlowestMessage{}, name: sum.StepName(i), all: SlowestOf(s, v)}
		for k := range x.all {
			m := &x.all[k]
			at := func(ns int64) *int64 {
				if ns == rawlog.Null {
					return nil
				}
				ns += s.StartNs
				return &ns
			}
			y := SlowestMessage{
				Producer: m.Producer, Seq: m.Seq, Group: m.Group, Consumer: m.Consumer, IntendedNs: s.StartNs + m.Intended, SentNs: at(m.Sent), AckedNs: at(m.Acked),
				BrokerNs: at(m.Broker), ReceivedNs: s.StartNs + m.Received, LatencyNs: m.Latency(), Stages: m.Stages(),
			}
			if m.Partition >= 0 {
				y.Partition = &m.Partition
			}
			x.Messages = append(x.Messages, y)
		}
		out.Steps = append(out.Steps, x)
	}
	return out
}

// Write writes the tables for a terminal.
func (s *Slowest) Write(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s\n", SlowestNote); err != nil {
		return err
	}
	for i := range s.Steps {
		x := &s.Steps[i]
		if _, err := fmt.Fprintf(w, "\n%s\n", x.name); err != nil {
			return err
		}
		if len(x.all) == 0 {
			if _, err := fmt.Fprintln(w, "  none is kept here"); err != nil {
				return err
			}
			continue
		}
		t := columns.Table{Header: SlowestHeader(x.all)}
		for k := range x.all {
			t.Rows = append(t.Rows, x.all[k].Cells(t.Header))
		}
		if err := t.Write(w); err != nil {
			return err
		}
	}
	return nil
}
