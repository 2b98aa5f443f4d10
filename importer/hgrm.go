package importer

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"queuebench/analysis"
)

func isHGRM(head []byte) bool {
	line := firstLine(head)
	return bytes.Contains(line, []byte("Percentile")) && bytes.Contains(line, []byte("TotalCount")) && bytes.Contains(line, []byte("1/(1-Percentile)"))
}

const hdrDefinition = "HdrHistogram's: the upper edge of the bucket in which the count reaches the percentile; others than those printed are looked up by their nearest rank in the counts, ≤ where the rank lies between two rows"

func readHGRM(s *source) (*analysis.Digest, error) {
	var t distribution
	unit := cmp.Or(s.opt.Unit, time.Millisecond)
	err := s.eachLine(func(line []byte) error {
		_, err := t.line(string(line), unit)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(t.rows) == 0 {
		return nil, s.fail(0, "%w", errNothing)
	}
	return s.reference("HdrHistogram", analysis.Reference{
		Name: "HdrHistogram", Format: "HdrHistogram percentile distribution", Source: s.base(), Latency: "as the tool that wrote it measured",
		PercentileDefinition: hdrDefinition,
		Notes:                []string{fmt.Sprintf("the file carries no unit: values are read as %s (--unit says otherwise)", unitName(unit))},
		Points:               []analysis.ReferencePoint{t.point(lookedUp)},
	})
}

// line takes a line of a distribution, and says whether it was the last.
func (t *distribution) line(text string, unit time.Duration) (end bool, err error) {
	switch {
	case strings.HasPrefix(text, "#["):
		return strings.Contains(text, "Buckets"), t.footer(text, unit)
	case strings.HasPrefix(text, "#"), strings.Contains(text, "Percentile"):
		return false, nil
	}
	f := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	if len(f) != 3 && len(f) != 4 {
		return false, fmt.Errorf("%d numbers, a row has a value, a percentile, a count and 1/(1−percentile)", len(f))
	}
	var r distributionRow
	if r.ns, err = scaled(f[0], unit); err != nil {
		return false, err
	}
	if r.percent, err = percentOf(f[1]); err != nil {
		return false, err
	}
	if r.count, err = strconv.ParseInt(f[2], 10, 64); err != nil || r.count < 0 {
		return false, fmt.Errorf("%.40q is no count", f[2])
	}
	if n := len(t.rows); n > 0 && (r.count < t.rows[n-1].count || r.ns < t.rows[n-1].ns) {
		return false, fmt.Errorf("a value or a count below that of the row before")
	}
	if len(t.rows) == maxPoints {
		return false, errPoints
	}
	t.rows = append(t.rows, r)
	return false, nil
}

// footer reads "#[Mean    =      345.001, StdDeviation   =      203.303]".
func (t *distribution) footer(text string, unit time.Duration) error {
	for part := range strings.SplitSeq(strings.Trim(text, "#[] \r\t"), ",") {
		name, v, ok := strings.Cut(part, "=")
		if !ok {
			continue
		}
		to := map[string]**int64{"Mean": &t.p.MeanNs, "StdDeviation": &t.p.SDNs, "Max": &t.p.MaxNs}[strings.TrimSpace(name)]
		if to == nil {
			continue
		}
		ns, err := scaled(v, unit)
		if err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(name), err)
		}
		*to = &ns
	}
	return nil
}
