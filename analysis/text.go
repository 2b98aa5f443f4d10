package analysis

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// WriteText writes a summary for a terminal: the run, the latency per step, the
// accounting, the other latencies, the warm-up's rule, and the findings with
// what to do.
func WriteText(w io.Writer, s Summary) error {
	b := bufio.NewWriter(w)
	state := "complete"
	if !s.Complete {
		state = "incomplete"
	}
	fmt.Fprintf(b, "Run %s, %s, %s\n", s.Run, plural(int64(len(s.Steps)), "step"), state)
	for _, fact := range s.Facts() {
		fmt.Fprintf(b, "  %-7s  %s\n", fact[0], fact[1])
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(b, "  runner   %s\n", w)
	}
	writeFindings(b, s.Findings)
	if len(s.Steps) == 0 {
		writeReferences(b, s)
		return b.Flush()
	}

	if s.tailed() {
		fmt.Fprintf(b, "\nLatency from %s (%s: too few messages behind it)\n", s.Steps[0].Tail.Latency, Dash)
	} else if s.imported() {
		fmt.Fprintf(b, "\nLatency, as another tool measured it\n")
	} else if s.closed() {
		fmt.Fprintf(b, "\n%s\nLatency of an operation (%s: too few behind it)\n", upperFirst(ClosedLoop), Dash)
	} else if s.drained() {
		fmt.Fprintf(b, "\nEnd-to-end latency of a backlog that was held and drained (%s: too few messages behind it)\n", Dash)
	} else {
		fmt.Fprintf(b, "\nEnd-to-end latency, from the schedule's time to the consumer (%s: too few messages behind it)\n", Dash)
	}
	left := 0
	if s.Variants() {
		left = 1
	}
	writeTable(b, left, func() ([]string, [][]string) { return Table(s) })
	if header, rows := IntervalTable(s); len(rows) > 0 {
		fmt.Fprintf(b, "\n95 %% intervals of these percentiles, within the run: what another stretch of it would give, not another run\n")
		writeTable(b, 0, func() ([]string, [][]string) { return header, rows })
	}
	writeWarmups(b, s)
	writeReferences(b, s)

	fmt.Fprintf(b, "\nAccounting, in messages\n")
	writeTable(b, 0, func() ([]string, [][]string) { return AccountingTable(s) })

	if header, rows := LatencyTable(s); len(rows) > 0 {
		fmt.Fprintf(b, "\nWhere the time goes\n")
		writeTable(b, len(s.stepHeader())+1, func() ([]string, [][]string) { return header, rows })
	}

	if s.staged() {
		fmt.Fprintf(b, "\nStages of a message's way, per batch and over whole steps\n")
		writeTable(b, len(s.stepHeader())+1, func() ([]string, [][]string) { return StageTable(s) })
		for i := range s.Steps {
			if x := s.Steps[i].Stages; x != nil && x.Sum != nil {
				fmt.Fprintf(b, "  %s: %s\n", s.StepName(i), x.Sum.Text())
			}
		}
	}
	for i := range s.Scaling {
		fmt.Fprintf(b, "\n%s\n", s.Scaling[i].Title())
		t := s.Scaling[i].Table()
		if err := t.Write(b); err != nil {
			return err
		}
	}
	writeBreakdowns(b, s)
	for i := range s.Steps {
		if x := &s.Steps[i]; len(x.Findings)+len(x.Recoveries) > 0 {
			fmt.Fprintf(b, "\n%s\n", s.StepName(i))
			for k := range x.Recoveries {
				if line := x.Recoveries[k].Line(); !x.says(line) {
					fmt.Fprintf(b, "  fault    %s\n", line)
				}
			}
			writeFindings(b, x.Findings)
		}
	}
	return b.Flush()
}

// Facts are what a reader must know of the run: pairs of a name and a text.
func (s *Summary) Facts() [][2]string {
	var out [][2]string
	add := func(name string, parts ...string) {
		parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
		if len(parts) > 0 {
			out = append(out, [2]string{name, strings.Join(parts, "; ")})
		}
	}
	if s.StartedNs > 0 {
		add("started", time.Unix(0, s.StartedNs).UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	interval := ""
	if s.Queue.CommitInterval > 0 {
		interval = "commits every " + formatDuration(s.Queue.CommitInterval)
	}
	add("queue", s.Queue.Kind, interval)
	if s.DurabilityDiffers() {
		for i := range s.Steps {
			if s.durabilityIsNew(i) {
				add("acked", s.durabilityName(i)+": "+s.Steps[i].Durability)
			}
		}
	} else {
		add("acked", s.Queue.Durability)
	}
	embedded := ""
	if s.Store.Embedded {
		embedded = "in-process floor"
	}
	durability := s.Store.Durability
	if durability == s.Queue.Durability {
		durability = "" // said already
	}
	add("store", s.Store.Address, embedded, durability)
	for _, p := range s.Processes {
		add(p.Name, "on "+p.Host.Name, p.Host.OS+"/"+p.Host.Arch, plural(int64(p.Host.CPUs), "CPU"), p.Host.CPUModel)
	}
	for _, x := range s.Imports {
		add("import", x.File, x.Format)
		add("", "latency: "+x.Latency)
		add("", "percentiles: "+x.Percentiles)
		for _, note := range x.Notes {
			add("", note)
		}
	}
	if s.Host.Name != "" && len(s.Processes) == 0 {
		add("host", s.Host.Name, s.Host.OS+"/"+s.Host.Arch, plural(int64(s.Host.CPUs), "CPU"), s.Host.CPUModel)
	}
	return out
}

// StepName is the name of step number i for people: "10,000 msg/s", with the
// repeat where there is more than one, with the settings of its own, and with
// the step where another has the same of all.
func (s *Summary) StepName(i int) string {
	x := &s.Steps[i]
	name := x.Name()
	if x.Variant != "" {
		name += ", " + x.Variant
	}
	repeated, twice := x.Repeat > 0, false
	for j := range s.Steps {
		if y := &s.Steps[j]; y.Step == x.Step {
			repeated = repeated || y.Repeat > 0
		} else if y.Rate == x.Rate && y.Variant == x.Variant {
			twice = true
		}
	}
	if twice {
		name += fmt.Sprintf(", step %d", x.Step)
	}
	if repeated {
		name += fmt.Sprintf(", repeat %d", x.Repeat)
	}
	return name
}

// says tells whether a finding of the step has these words in it.
func (x *StepSummary) says(words string) bool {
	return slices.ContainsFunc(x.Findings, func(f Finding) bool { return strings.Contains(f.Text, words) })
}

// Warmup is the cut of a step and its rule as text: "2 s (default: …)".
func (x *StepSummary) Warmup() string {
	text := fmt.Sprintf("%s (%s)", formatDuration(time.Duration(x.WarmupNs)), x.WarmupRule)
	if w := x.Window; w != nil {
		text += fmt.Sprintf("; looked at from %s to %s", formatDuration(time.Duration(w.FromNs)), formatDuration(time.Duration(w.ToNs)))
	}
	return text
}

// writeWarmups writes the rule once where all steps share it.
func writeWarmups(w io.Writer, s Summary) {
	for i := range s.Steps {
		x := &s.Steps[i]
		same := true
		for j := range s.Steps {
			same = same && s.Steps[j].Warmup() == s.Steps[0].Warmup()
		}
		switch {
		case same:
			by := "intended time"
			switch {
			case s.tailed():
				by = "the time of receipt"
			case s.closed():
				by = "the beginning of an operation"
			}
			fmt.Fprintf(w, "Warm-up cut from each step, by %s: %s\n", by, x.Warmup())
			return
		case i == 0:
			fmt.Fprintf(w, "Warm-up cut, by intended time:\n")
		}
		fmt.Fprintf(w, "  %s: %s\n", s.StepName(i), x.Warmup())
	}
}

// writeReferences writes what others say: apart from what was computed here,
// each with its definition.
func writeReferences(w io.Writer, s Summary) {
	if len(s.References) == 0 {
		return
	}
	fmt.Fprintf(w, "\nImported references: carried as they are, never merged with anything (%s: not in the source)\n", Dash)
	header, rows, more := ReferenceTable(s)
	writeTable(w, 1, func() ([]string, [][]string) { return header, rows })
	if more > 0 {
		fmt.Fprintf(w, "  %s: --json has them\n", plural(int64(more), "more row"))
	}
	for i := range s.References {
		r := &s.References[i]
		fmt.Fprintf(w, "  %s: %s, from %s\n", r.Name, r.Format, r.Source)
		fmt.Fprintf(w, "           latency: %s\n           percentiles: %s\n", r.Latency, r.PercentileDefinition)
		for _, note := range r.Notes {
			fmt.Fprintf(w, "           %s\n", note)
		}
	}
}

func writeFindings(w io.Writer, findings []Finding) {
	for _, f := range findings {
		fmt.Fprintf(w, "  %-7s  %s\n           %s [%s]\n", f.Severity, f.Text, f.Advice, f.ID)
	}
}

// writeTable aligns columns to the right; column left stands to the left where
// it is one (0 for none).
func writeTable(w io.Writer, left int, table func() ([]string, [][]string)) {
	header, rows := table()
	width := make([]int, len(header))
	for _, row := range append([][]string{header}, rows...) {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range append([][]string{header}, rows...) {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			line.WriteString("  ")
			if left > 0 && i == left-1 {
				line.WriteString(cell + pad)
			} else {
				line.WriteString(pad + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}
