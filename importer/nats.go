package importer

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/rawlog"
)

// isNatsLatency: a number on each line, and nothing else.
func isNatsLatency(head []byte) bool {
	lines := firstLines(head, 20)
	if len(lines) == 20 || len(head) < headSize {
		for _, line := range lines {
			if _, err := strconv.ParseFloat(string(bytes.TrimSpace(line)), 64); err != nil {
				return false
			}
		}
		return len(lines) > 0
	}
	return false
}

func readNatsLatency(s *source) (*analysis.Digest, error) {
	c := newCollector()
	unit := cmp.Or(s.opt.Unit, time.Millisecond)
	err := s.eachLine(func(line []byte) error {
		ns, err := latency(string(line), unit)
		if err != nil {
			return err
		}
		return c.value(ns)
	})
	if err != nil {
		return nil, err
	}
	d := s.digest("nats latency", rawlog.Import{
		Format: "nats latency values", Latency: "from publishing to receiving, in one process", Percentiles: computedHere,
		Notes: []string{
			"a value has no time: nothing is known of a rate, or of how the latency changed",
			fmt.Sprintf("the file carries no unit: read as %s", unitName(unit)),
		},
	})
	step, err := c.step()
	if err != nil {
		return nil, s.fail(0, "%w", err)
	}
	addStep(d, step)
	return d, nil
}

func unitName(unit time.Duration) string {
	switch unit {
	case time.Nanosecond:
		return "ns"
	case time.Microsecond:
		return "µs"
	case time.Millisecond:
		return "ms"
	}
	return "s"
}

func isNatsBench(head []byte) bool { return bytes.HasPrefix(head, []byte("#RunID,")) }

// readNatsBench reads the rows of `nats bench --csv`: one of each client, whose
// header is a comment.
func readNatsBench(s *source) (*analysis.Digest, error) {
	var header []string
	var points []analysis.ReferencePoint
	doubled := false
	err := s.eachRecord(',', func(f []string) error {
		if strings.HasPrefix(f[0], "#") {
			header = slices.Clone(f)
			header[0] = strings.TrimPrefix(header[0], "#")
			return nil
		}
		if len(f) != len(header) {
			return fmt.Errorf("%d columns, the header has %d", len(f), len(header))
		}
		if len(points) == maxPoints {
			return errPoints
		}
		p := analysis.ReferencePoint{Percentiles: map[string]analysis.ReferenceValue{}}
		var rate, seconds float64
		for i, name := range header {
			var err error
			switch {
			case name == "ClientID":
				p.Label = "client " + strings.Clone(f[i])
			case name == "MsgCount":
				p.N, err = strconv.ParseInt(f[i], 10, 64)
			case name == "MsgsPerSec":
				rate, err = number(f[i])
				p.Rate = rate
			case name == "DurationSecs":
				seconds, err = number(f[i])
			case strings.HasSuffix(name, "LatencyMicroSecs"):
				err = natsColumn(&p, strings.TrimSuffix(name, "LatencyMicroSecs"), f[i])
			}
			if err != nil {
				return fmt.Errorf("column %s: %w", name, err)
			}
		}
		// The rate is truncated and counts messages; MsgCount counts their
		// acknowledgements too.
		if half := float64(p.N / 2); p.N%2 == 0 && half >= rate*seconds && half < (rate+1)*seconds && float64(p.N) >= (rate+1)*seconds {
			p.N /= 2
			doubled = true
		}
		points = append(points, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(points) == 0 {
		return nil, s.fail(0, "%w", errNothing)
	}
	r := analysis.Reference{
		Name: "nats bench", Format: "nats bench CSV", Source: s.base(), Latency: "of a publish or a request of a client, as nats bench times it (closed loop)",
		PercentileDefinition: "of each client, of its sorted values; those of several clients are not merged",
		Notes:                []string{"StdDevLatencyMicroSecs is left out: nats bench computes it wrongly"},
		Points:               points,
	}
	if doubled {
		r.Notes = append(r.Notes, "MsgCount counts acknowledgements too, as its rate shows: n is half of it")
	} else {
		r.Notes = append(r.Notes, "MsgCount may count acknowledgements too: then n is twice the messages")
	}
	return s.reference("nats bench", r)
}

// natsColumn reads a column of a latency, in µs.
func natsColumn(p *analysis.ReferencePoint, what, text string) error {
	ns, err := scaled(text, time.Microsecond)
	if err != nil {
		return err
	}
	switch what {
	case "Min":
		p.MinNs = &ns
	case "Avg":
		p.MeanNs = &ns
	case "Max":
		p.MaxNs = &ns
	case "StdDev":
	default:
		percent, ok := strings.CutPrefix(what, "P")
		if !ok {
			return nil
		}
		key, err := percentKey(percent)
		if err != nil {
			return err
		}
		p.Percentiles[key] = analysis.ReferenceValue{Ns: ns}
	}
	return nil
}
