package importer

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"queuebench/analysis"
)

// pathwayHeader is the header of the CSV that the Delta-table queue benchmark
// writes for each rate, as {rate}.csv.
const pathwayHeader = "time_from_start,p50,p75,p85,p95,p99"

func isPathway(head []byte) bool { return string(firstLine(head)) == pathwayHeader }

func readPathway(s *source) (*analysis.Digest, error) {
	percents := []string{"50", "75", "85", "95", "99"}
	r := analysis.Reference{
		Name: "Pathway benchmark", Format: "Pathway benchmark CSV", Source: s.base(),
		Latency:              "end-to-end from a stamp that is refreshed every 100 messages, so up to that much is missing",
		PercentileDefinition: "cumulative since its warm-up, in buckets of 10 ms by their lower edge, and none above 100 s",
	}
	columns := 0
	err := s.eachRecord(',', func(f []string) error {
		if columns == 0 {
			columns = len(f)
			return nil
		}
		if len(f) != columns {
			return fmt.Errorf("%d columns, the header has %d", len(f), columns)
		}
		at, err := scaled(f[0], time.Second)
		if err != nil {
			return err
		}
		if len(r.Timeline) == maxPoints {
			return errPoints
		}
		p := analysis.ReferencePoint{Label: "until " + analysis.FormatLatency(at), AtNs: &at, Percentiles: map[string]analysis.ReferenceValue{}}
		for i, percent := range percents {
			v, err := value(f[i+1], time.Second)
			if err != nil {
				return err
			}
			p.Percentiles[percent] = v
		}
		r.Timeline = append(r.Timeline, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(r.Timeline) == 0 {
		return nil, s.fail(0, "%w", errNothing)
	}
	last := r.Timeline[len(r.Timeline)-1]
	r.Timeline = r.Timeline[:len(r.Timeline)-1]
	last.Label = ""
	base := strings.TrimSuffix(s.base(), ".csv")
	if rate, err := strconv.ParseFloat(base, 64); err == nil && rate > 0 && rate < 1e12 {
		last.Rate = rate
		r.Notes = append(r.Notes, "the rate is the name of the file")
	} else {
		r.Notes = append(r.Notes, "the rate is unknown: the benchmark has it as the name of the file, such as 10000.csv")
	}
	if len(r.Timeline) > 0 && last.Rate > 0 {
		r.Notes = append(r.Notes, "its cumulative curve of the time before is left out")
		r.Timeline = nil
	}
	r.Points = []analysis.ReferencePoint{last}
	return s.reference("Pathway benchmark", r)
}

// isSeries: our own form of published results, a row for each rate.
func isSeries(head []byte) bool { return bytes.HasPrefix(firstLine(head), []byte("series,rate,")) }

// readSeries reads a reference series: comment lines "# KEY: TEXT" (latency,
// percentiles, source, note), then the header series,rate and columns such as
// p99_ms, min_ms, mean_ms, max_ms and n; a row for each rate.
func readSeries(s *source) (*analysis.Digest, error) {
	var header []string
	about := analysis.Reference{Format: "reference series", Source: s.base(), Latency: "not said", PercentileDefinition: "not said"}
	byName := map[string]*analysis.Reference{}
	var order []string
	line := 0
	l := lineReader{r: s.r}
	for {
		text, err := l.next()
		if line = l.line; err != nil {
			if errors.Is(err, errLongLine) {
				return nil, s.fail(line, "%w", err)
			}
			break
		}
		switch t := strings.TrimSpace(string(text)); {
		case t == "":
		case strings.HasPrefix(t, "#"):
			seriesComment(&about, strings.TrimSpace(t[1:]))
		case header == nil:
			header = strings.Split(t, ",")
		default:
			name, p, err := seriesRow(header, strings.Split(t, ","))
			if err != nil {
				return nil, s.fail(line, "%w", err)
			}
			r := byName[name]
			if r == nil {
				if len(order) == mostSteps {
					return nil, s.fail(line, "more than %d series", mostSteps)
				}
				r = new(analysis.Reference)
				*r = about
				r.Name = name
				byName[name], order = r, append(order, name)
			}
			if len(r.Points) == maxPoints {
				return nil, s.fail(line, "%w", errPoints)
			}
			r.Points = append(r.Points, p)
		}
	}
	if len(order) == 0 {
		return nil, s.fail(0, "%w", errNothing)
	}
	var rs []analysis.Reference
	for _, name := range order {
		rs = append(rs, *byName[name])
	}
	return s.reference("publications", rs...)
}

func seriesRow(header, f []string) (string, analysis.ReferencePoint, error) {
	p := analysis.ReferencePoint{Percentiles: map[string]analysis.ReferenceValue{}}
	if len(f) != len(header) {
		return "", p, fmt.Errorf("%d columns, the header has %d", len(f), len(header))
	}
	var err error
	if p.Rate, err = number(f[1]); err != nil || p.Rate < 0 {
		return "", p, fmt.Errorf("rate %.40q: write messages per second", f[1])
	}
	for i := 2; i < len(header); i++ {
		text := strings.TrimSpace(f[i])
		if text == "" {
			continue
		}
		if header[i] == "n" {
			if p.N, err = strconv.ParseInt(text, 10, 64); err != nil {
				return "", p, fmt.Errorf("n: %.40q is no count", text)
			}
			continue
		}
		name, unitText, _ := strings.Cut(header[i], "_")
		unit, err := ParseUnit(unitText)
		if err != nil {
			return "", p, fmt.Errorf("column %q: name it such as p99_ms: %w", header[i], err)
		}
		ns, err := scaled(text, unit)
		if err != nil {
			return "", p, fmt.Errorf("column %s: %w", header[i], err)
		}
		percent, isPercentile := strings.CutPrefix(name, "p")
		to := map[string]**int64{"min": &p.MinNs, "mean": &p.MeanNs, "sd": &p.SDNs, "max": &p.MaxNs}[name]
		switch {
		case to != nil:
			*to = &ns
		case isPercentile:
			key, err := percentKey(percent)
			if err != nil {
				return "", p, fmt.Errorf("column %q: %w", header[i], err)
			}
			p.Percentiles[key] = analysis.ReferenceValue{Ns: ns}
		default:
			return "", p, fmt.Errorf("column %q: there are p…, min, mean, sd, max with a unit, and n", header[i])
		}
	}
	return strings.TrimSpace(f[0]), p, nil
}

// seriesComment takes a comment "KEY: TEXT"; others are passed over.
func seriesComment(r *analysis.Reference, text string) {
	key, rest, ok := strings.Cut(text, ":")
	rest = strings.TrimSpace(rest)
	if !ok || rest == "" {
		return
	}
	switch key {
	case "latency":
		r.Latency = rest
	case "percentiles":
		r.PercentileDefinition = rest
	case "source":
		r.Source = rest
	case "note":
		if len(r.Notes) < 20 {
			r.Notes = append(r.Notes, rest)
		}
	}
}
