package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"queuebench/analysis"
	"queuebench/rawlog"
)

var aboutVegeta = rawlog.Import{
	Latency:     "from the moment when a request was begun to the end of its response, refused ones included; the time that it was due is not recorded, so what a busy attacker begins late is missing",
	Percentiles: computedHere,
}

// computedHere is the definition of what is computed from raw values.
const computedHere = "nearest-rank, computed here from every value (to within 0.1 %)"

const vegetaColumns = 12

// isVegetaCSV: there is no header; a line is time in ns, status, latency in ns
// and nine more.
func isVegetaCSV(head []byte) bool {
	fields := bytes.Split(firstLine(head), []byte(","))
	if len(fields) < vegetaColumns || len(fields[0]) < 18 || len(fields[1]) > 3 {
		return false
	}
	for _, f := range fields[:5] {
		if _, err := strconv.ParseInt(string(f), 10, 64); err != nil {
			return false
		}
	}
	return true
}

func readVegetaCSV(s *source) (*analysis.Digest, error) {
	c := newSeries("attack")
	err := s.eachRecord(',', func(f []string) error {
		if len(f) != vegetaColumns {
			return fmt.Errorf("%d columns, a vegeta CSV has %d", len(f), vegetaColumns)
		}
		at, err := strconv.ParseInt(f[0], 10, 64)
		if err != nil {
			return fmt.Errorf("column 1, the time: %.40q is not a number of ns", f[0])
		}
		code, err := strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			return fmt.Errorf("column 2, the status: %.40q is not a number", f[1])
		}
		ns, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return fmt.Errorf("column 3, the latency: %.40q is not a number of ns", f[2])
		}
		attack, err := c.of(f[7])
		if err != nil {
			return err
		}
		return attack.sample(at, time.Nanosecond, ns, code >= 200 && code < 400 && f[5] == "")
	})
	if err != nil {
		return nil, err
	}
	return s.vegeta("vegeta CSV", c)
}

func isVegetaJSON(head []byte) bool {
	line := firstLine(head)
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"attack"`)) && bytes.Contains(line, []byte(`"latency"`)) && bytes.Contains(line, []byte(`"timestamp"`))
}

func readVegetaJSON(s *source) (*analysis.Digest, error) {
	c := newSeries("attack")
	err := s.eachLine(func(line []byte) error {
		var r struct {
			Attack    string
			Code      int
			Timestamp string
			Latency   *int64
			Error     string
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if r.Latency == nil || r.Timestamp == "" {
			return fmt.Errorf("a result without a latency or a timestamp")
		}
		at, _, err := stamp(r.Timestamp)
		if err != nil {
			return err
		}
		attack, err := c.of(r.Attack)
		if err != nil {
			return err
		}
		return attack.sample(at, time.Nanosecond, *r.Latency, r.Code >= 200 && r.Code < 400 && r.Error == "")
	})
	if err != nil {
		return nil, err
	}
	return s.vegeta("vegeta JSON", c)
}

func (s *source) vegeta(format string, c *series) (*analysis.Digest, error) {
	about := aboutVegeta
	about.Format = format
	d := s.digest("vegeta", about)
	return d, c.addTo(d, s)
}
