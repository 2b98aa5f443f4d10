package importer

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"queuebench/analysis"
)

// point turns a decimal comma into a point.
func point(text string) string { return strings.Replace(text, ",", ".", 1) }

func isKafkaProducer(head []byte) bool {
	for _, line := range firstLines(head, 50) {
		if kafkaLine(string(line)) != nil {
			return true
		}
	}
	return false
}

const kafkaIndex = "of the sorted values the one with the index (int)(p·n), which is the next larger one than nearest-rank wherever p·n is whole; in whole ms"

func readKafkaProducer(s *source) (*analysis.Digest, error) {
	r := analysis.Reference{
		Name: "Kafka producer", Format: "kafka-producer-perf-test", Source: s.base(),
		Latency:              "publish: from send() to the acknowledgement; what a blocked send() held back is missing",
		PercentileDefinition: kafkaIndex,
		Notes:                []string{"of more than 500,000 records only every n-th is kept for the percentiles"},
	}
	var total, steady *analysis.ReferencePoint
	totals := 0
	err := s.eachLine(func(line []byte) error {
		m := kafkaLine(string(line))
		if m == nil {
			return nil // of a log, or --print-metrics
		}
		p, err := kafkaPoint(m)
		if err != nil {
			return err
		}
		switch {
		case len(p.Percentiles) == 0:
			if len(r.Timeline) == maxPoints {
				return errPoints
			}
			p.Label = fmt.Sprintf("window %d", len(r.Timeline)+1)
			r.Timeline = append(r.Timeline, *p)
		case m[2] != "":
			steady, totals = p, totals+1
		default:
			// Of two totals without a name the later one is the steady one.
			total, totals = p, totals+1
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if steady == nil {
		steady = total
	}
	switch {
	case steady == nil:
		r.Notes = append(r.Notes, "it has no line of totals: the test was stopped before its end")
	case totals > 1:
		r.Notes = append(r.Notes, fmt.Sprintf("it prints %d totals, as with a warm-up: this is the steady one, the last", totals))
		fallthrough
	default:
		r.Points = []analysis.ReferencePoint{*steady}
	}
	return s.reference("Kafka's performance tests", r)
}

func kafkaPoint(m []string) (*analysis.ReferencePoint, error) {
	p := &analysis.ReferencePoint{Percentiles: map[string]analysis.ReferenceValue{}}
	var err error
	if p.N, err = strconv.ParseInt(m[1], 10, 64); err != nil {
		return nil, err
	}
	if p.Rate, err = number(point(m[3])); err != nil {
		return nil, err
	}
	for i, to := range map[int]**int64{4: &p.MeanNs, 5: &p.MaxNs} {
		ns, err := scaled(point(m[i]), time.Millisecond)
		if err != nil {
			return nil, err
		}
		*to = &ns
	}
	for _, q := range kafkaPercentiles(m[6]) {
		if err := kafkaValue(p, q[1], q[0]); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func kafkaValue(p *analysis.ReferencePoint, percent, text string) error {
	key, err := percentKey(point(percent))
	if err != nil {
		return err
	}
	v, err := value(point(text), time.Millisecond)
	p.Percentiles[key] = v
	return err
}

func isKafkaEndToEnd(head []byte) bool {
	_, ok := kafkaAverage(string(head))
	return ok && bytes.Contains(head, []byte("Percentiles: 50th"))
}

func readKafkaEndToEnd(s *source) (*analysis.Digest, error) {
	p := analysis.ReferencePoint{Percentiles: map[string]analysis.ReferenceValue{}}
	err := s.eachLine(func(line []byte) error {
		text := string(line)
		if mean, ok := kafkaAverage(text); ok {
			ns, err := scaled(point(mean), time.Millisecond)
			p.MeanNs = &ns
			return err
		}
		if rest, ok := strings.CutPrefix(text, "Percentiles: "); ok {
			for _, q := range kafkaEndToEnd(rest) {
				if err := kafkaValue(&p, q[0], q[1]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(p.Percentiles) == 0 {
		return nil, s.fail(0, "it ends before its percentiles")
	}
	return s.reference("Kafka's performance tests", analysis.Reference{
		Name: "Kafka end-to-end", Format: "kafka-e2e-latency", Source: s.base(),
		Latency:              "from sending to having polled, one message at a time (closed loop): no rate and no queue",
		PercentileDefinition: kafkaIndex,
		Notes:                []string{"the lines before its totals are single latencies at every thousandth message, and are left out"},
		Points:               []analysis.ReferencePoint{p},
	})
}

func isKafkaConsumer(head []byte) bool {
	return bytes.HasPrefix(firstLine(head), []byte("start.time, end.time, data.consumed.in.MB"))
}

// readKafkaConsumer reads throughputs: the consumer's test has no latency.
func readKafkaConsumer(s *source) (*analysis.Digest, error) {
	r := analysis.Reference{
		Name: "Kafka consumer", Format: "kafka-consumer-perf-test", Source: s.base(),
		Latency: "none: the test measures throughput only", PercentileDefinition: "none",
		Notes: []string{"nMsg.sec counts the time of joining the group (rebalance.time.ms); fetch.nMsg.sec leaves it out"},
	}
	var header []string
	err := s.eachLine(func(line []byte) error {
		// Numbers may have a decimal comma: fields are parted by comma and space.
		f := strings.Split(strings.TrimSpace(string(line)), ", ")
		if f[0] == "start.time" {
			header = f
			return nil
		}
		if len(f) != len(header) {
			return nil // of a log
		}
		if len(r.Points)+2 > maxPoints {
			return errPoints
		}
		var n int64
		rate := map[string]float64{}
		for i, name := range header {
			var err error
			switch name {
			case "data.consumed.in.nMsg":
				n, err = strconv.ParseInt(f[i], 10, 64)
			case "nMsg.sec", "fetch.nMsg.sec":
				rate[name], err = number(point(f[i]))
			}
			if err != nil {
				return fmt.Errorf("column %s: %w", name, err)
			}
		}
		none := map[string]analysis.ReferenceValue{}
		r.Points = append(r.Points, analysis.ReferencePoint{Label: "with joining the group", N: n, Rate: rate["nMsg.sec"], Percentiles: none})
		if v, ok := rate["fetch.nMsg.sec"]; ok {
			r.Points = append(r.Points, analysis.ReferencePoint{Label: "fetching only", N: n, Rate: v, Percentiles: none})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(r.Points) == 0 {
		return nil, s.fail(0, "%w", errNothing)
	}
	return s.reference("Kafka's performance tests", r)
}
