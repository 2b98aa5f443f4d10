package importer

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"queuebench/analysis"
)

func isWrk(head []byte) bool { return bytes.Contains(head, []byte("Latency Distribution")) }

// wrkUnits are mixed within one file.
var wrkUnits = map[string]time.Duration{"us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour}

// wrkBlock is one distribution of the output.
type wrkBlock struct {
	title  string
	values map[string]analysis.ReferenceValue
	t      distribution
}

// readWrk reads the output of wrk2, and that of wrk with --latency.
func readWrk(s *source) (*analysis.Digest, error) {
	var blocks []*wrkBlock
	var rate float64
	spectrum := false
	err := s.eachLine(func(line []byte) error {
		text := string(line)
		if _, title, ok := strings.Cut(text, "Latency Distribution"); ok {
			if len(blocks) == mostSteps {
				return fmt.Errorf("more than %d distributions", mostSteps)
			}
			title = strings.Trim(title, " ()")
			blocks, spectrum = append(blocks, &wrkBlock{title: strings.TrimPrefix(title, "HdrHistogram - "), values: map[string]analysis.ReferenceValue{}}), false
			return nil
		}
		if len(blocks) == 0 {
			return nil
		}
		b := blocks[len(blocks)-1]
		percent, amount, unit, listed := wrkPercentile(text)
		switch perSecond, ok := wrkRate(text); {
		case strings.Contains(text, "Detailed Percentile spectrum"):
			spectrum = true
		case spectrum:
			end, err := b.t.line(text, time.Millisecond)
			spectrum = !end
			return err
		case listed:
			v, err := value(amount, wrkUnits[unit])
			if err != nil {
				return err
			}
			key, err := percentKey(percent)
			if err != nil {
				return err
			}
			b.values[key] = v
		case ok:
			var err error
			rate, err = number(perSecond)
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var rs []analysis.Reference
	for _, b := range blocks {
		r := analysis.Reference{
			Name: "wrk2", Format: "wrk2 output", Source: s.base(), PercentileDefinition: hdrDefinition,
			Latency: "from the time that its schedule intended for a request to the end of the response",
			Notes:   []string{"values of its short list have two decimals; those of the detailed spectrum, in ms, are taken where it has them"},
		}
		if b.title != "" && !strings.HasPrefix(b.title, "Recorded") {
			r.Name, r.Latency = "wrk2, "+strings.ToLower(b.title), "as it says: "+b.title
		}
		if len(b.t.rows) == 0 {
			r.Notes = []string{"without wrk2's spectrum: its values have two decimals"}
		}
		if b.title == "" {
			r.Name, r.Format = "wrk", "wrk output"
			r.Latency = "from sending a request to the end of the response; what a slow server was not asked meanwhile is missing (closed loop)"
		}
		p := b.t.point(lookedUp)
		p.Rate = rate
		for percent, v := range b.values {
			if have, ok := p.Percentiles[percent]; !ok || have.AtMost {
				p.Percentiles[percent] = v
			}
		}
		if len(p.Percentiles) == 0 {
			return nil, s.fail(0, "a latency distribution without a value")
		}
		r.Points = []analysis.ReferencePoint{p}
		rs = append(rs, r)
	}
	return s.reference("wrk2", rs...)
}
