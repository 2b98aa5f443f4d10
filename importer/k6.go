package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/rawlog"
)

var aboutK6 = rawlog.Import{
	Latency:     "as the script or k6 measured it; a stamp is of the end of a request, and its begin here is the stamp less the value",
	Percentiles: computedHere,
}

// k6Own are k6's metrics that are no durations, and so none of the script's.
var k6Own = []string{"http_reqs", "http_req_failed", "checks", "iterations", "dropped_iterations", "vus", "vus_max", "data_sent", "data_received",
	"ws_sessions", "ws_msgs_sent", "ws_msgs_received", "grpc_streams", "grpc_streams_msgs_sent", "grpc_streams_msgs_received", "browser_data_sent", "browser_data_received", "browser_http_req_failed", "browser_web_vital_cls"}

// k6Times are k6's durations in the order in which one of them stands for a
// file whose script has none of its own.
var k6Times = []string{"http_req_duration", "grpc_req_duration", "ws_session_duration", "browser_http_req_duration", "iteration_duration"}

// k6Parts are durations of a part of a request.
var k6Parts = []string{"http_req_blocked", "http_req_connecting", "http_req_tls_handshaking", "http_req_sending", "http_req_waiting", "http_req_receiving", "group_duration", "ws_connecting", "ws_ping"}

// k6 collects the metrics of a file.
type k6 struct {
	series
	asked []string
	coarse,
	any bool // stamps are of whole seconds; there is any
}

func newK6(s *source) *k6 {
	return &k6{series: *newSeries("metric"), asked: s.opt.Metrics}
}

// wanted tells whether a metric may be a duration that was asked for.
func (k *k6) wanted(metric string) bool {
	if len(k.asked) > 0 {
		return slices.Contains(k.asked, metric)
	}
	return !slices.Contains(k6Own, metric) && !slices.Contains(k6Parts, metric)
}

func (k *k6) point(metric, time_, value string, ok bool) error {
	if !k.wanted(metric) {
		return nil
	}
	end, resolution, err := stamp(time_)
	if err != nil {
		return err
	}
	ns, err := latency(value, time.Millisecond)
	if err != nil {
		return err
	}
	c, err := k.of(metric)
	if err != nil {
		return err
	}
	k.coarse, k.any = (k.coarse || !k.any) && resolution >= time.Second, true
	c.firstStamp, c.lastStamp = min(c.firstStamp, end), max(c.lastStamp, end)
	return c.sample(end-ns, resolution, ns, ok)
}

// digest chooses the metric that the file is about.
func (k *k6) digest(s *source, format string) (*analysis.Digest, error) {
	for _, name := range k.asked {
		if k.named[name] == nil {
			return nil, s.fail(0, "it has no metric %q; it has %s", name, strings.Join(k.order, ", "))
		}
	}
	about := aboutK6
	about.Format = format
	if len(k.asked) == 0 && len(k.order) > 1 {
		chosen, err := k.choose()
		if err != nil {
			return nil, s.fail(0, "%w", err)
		}
		var left []string
		for _, name := range k.order {
			if name != chosen {
				left = append(left, name)
			}
		}
		slices.Sort(left)
		about.Notes = append(about.Notes, fmt.Sprintf("of its metrics this is %s; --metric reads others: %s", chosen, strings.Join(left, ", ")))
		maps.DeleteFunc(k.named, func(name string, _ *collector) bool { return name != chosen })
		k.order = []string{chosen}
	}
	if k.coarse {
		about.Notes = append(about.Notes, "its stamps are whole seconds: when within a second a request ended is not known (K6_CSV_TIME_FORMAT=unix_nano records it)")
	}
	d := s.digest("k6", about)
	return d, k.addTo(d, s)
}

func (k *k6) choose() (string, error) {
	var own []string
	for _, name := range k.order {
		if !slices.Contains(k6Times, name) {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	switch {
	case len(own) == 1:
		return own[0], nil
	case len(own) > 1:
		return "", fmt.Errorf("it has several metrics of its script's own, and does not say which are durations: name some with --metric, of %s", strings.Join(own, ", "))
	}
	for _, name := range k6Times {
		if k.named[name] != nil {
			return name, nil
		}
	}
	return "", errNothing
}

func isK6CSV(head []byte) bool {
	return bytes.HasPrefix(firstLine(head), []byte("metric_name,timestamp,metric_value"))
}

func readK6CSV(s *source) (*analysis.Digest, error) {
	k := newK6(s)
	var expected, columns int
	err := s.eachRecord(',', func(f []string) error {
		if columns == 0 {
			columns = len(f)
			expected = slices.Index(f, "expected_response")
			return nil
		}
		if len(f) != columns {
			return fmt.Errorf("%d columns, the header has %d", len(f), columns)
		}
		return k.point(f[0], f[1], f[2], expected < 0 || f[expected] != "false")
	})
	if err != nil {
		return nil, err
	}
	return k.digest(s, "k6 CSV")
}

func isK6JSON(head []byte) bool {
	line := firstLine(head)
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"metric"`)) && bytes.Contains(line, []byte(`"data"`)) &&
		(bytes.Contains(line, []byte(`"Metric"`)) || bytes.Contains(line, []byte(`"Point"`)))
}

func readK6JSON(s *source) (*analysis.Digest, error) {
	k := newK6(s)
	counts := map[string]bool{} // metrics that are no durations
	err := s.eachLine(func(line []byte) error {
		var r struct {
			Metric string
			Type   string
			Data   struct {
				Type     string
				Contains string
				Time     string
				Value    json.Number
				Tags     map[string]string
			}
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		switch r.Type {
		case "Metric":
			if len(counts) > 10_000 {
				return errors.New("more than 10,000 metrics")
			}
			if r.Data.Type != "trend" {
				counts[r.Metric] = true
			}
			return nil
		case "Point":
			if counts[r.Metric] && !slices.Contains(k.asked, r.Metric) {
				return nil
			}
			return k.point(r.Metric, r.Data.Time, r.Data.Value.String(), r.Data.Tags["expected_response"] != "false")
		}
		return fmt.Errorf("a line of the type %.20q", r.Type)
	})
	if err != nil {
		return nil, err
	}
	return k.digest(s, "k6 JSON")
}
