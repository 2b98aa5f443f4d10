package metrics

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/VictoriaMetrics/metrics"

	"queuebench/rawlog"
	"queuebench/runner"
	"queuebench/stats"
)

// page is the metrics of one scrape.
type page struct {
	set *metrics.Set
}

func (p page) counter(name string, l labels, n int64) {
	p.set.GetOrCreateCounter(name + l.String()).Set(uint64(max(0, n)))
}

func (p page) seconds(name string, l labels, ns int64) {
	p.set.GetOrCreateFloatCounter(name + l.String()).Set(float64(ns) / 1e9)
}

func (p page) gauge(name string, l labels, v float64) {
	p.set.GetOrCreateGauge(name+l.String(), nil).Set(v)
}

// known is a gauge that is left out where its value is not known.
func (p page) known(name string, l labels, n int64) {
	if n != rawlog.Null {
		p.gauge(name, l, float64(n))
	}
}

// labels are names and values in turn.
type labels []string

func (l labels) with(more ...string) labels { return append(l[:len(l):len(l)], more...) }

func (l labels) String() string {
	var b strings.Builder
	for i := 0; i < len(l); i += 2 {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(l[i])
		b.WriteString(`="`)
		b.WriteString(escaped.Replace(l[i+1]))
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}

var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func write(w io.Writer, run Run, begun int, steps []runner.Status) {
	p := page{metrics.NewSet()}
	of := labels{"run", run.ID, "queue", run.Queue}
	if run.ID != "" {
		p.counter("queuebench_steps_total", of, int64(begun))
		p.gauge("queuebench_goroutines", of, float64(runtime.NumGoroutine()))
		p.log(of, &run)
		p.store(of, &run)
	}
	for i := range steps {
		s := &steps[i]
		l := of.with("step", strconv.Itoa(s.Plan.Step), "repeat", strconv.Itoa(s.Plan.Repeat))
		p.counts(l, s)
		p.latencies(l, s.EndToEnd)
		if i == len(steps)-1 && s.Phase != "ended" {
			p.levels(l, s)
		}
	}
	p.set.WritePrometheus(w)
	metrics.WriteProcMetrics(w)
}

func (p page) log(of labels, run *Run) {
	if run.Log == nil {
		return
	}
	s := run.Log()
	p.counter("queuebench_log_rows_total", of, s.Rows)
	p.counter("queuebench_log_discarded_rows_total", of, s.Discarded)
	p.counter("queuebench_log_parts_total", of, s.Parts)
	p.counter("queuebench_log_stored_parts_total", of, s.Stored)
	p.counter("queuebench_log_bytes_total", of, s.Bytes)
	p.counter("queuebench_log_blocked_total", of, s.Blocked)
	p.seconds("queuebench_log_blocked_seconds_total", of, s.BlockedNs)
	p.seconds("queuebench_log_encode_seconds_total", of, s.EncodeNs)
	p.counter("queuebench_log_upload_retries_total", of, s.UploadRetries)
}

func (p page) store(of labels, run *Run) {
	if run.Store == nil {
		return
	}
	c := run.Store()
	for _, k := range []struct {
		kind string
		n    int64
	}{
		{"put", c.Put}, {"put_if_absent", c.PutIfAbsent}, {"get", c.Get}, {"miss", c.Miss},
		{"list", c.List}, {"head", c.Head}, {"delete", c.Delete},
	} {
		p.counter("queuebench_store_requests_total", of.with("kind", k.kind), k.n)
	}
	p.counter("queuebench_store_failed_requests_total", of, c.Failed)
	p.gauge("queuebench_store_connections", of, float64(c.Open))
}

// counts are what only grows.
func (p page) counts(l labels, s *runner.Status) {
	a := &s.SoFar
	for _, c := range []struct {
		what string
		n    int64
	}{
		{"scheduled", a.Scheduled}, {"attempted", a.Attempted}, {"acked", a.Acked}, {"failed", a.Failed},
		{"unconfirmed", a.Unconfirmed}, {"overrun", a.Overrun}, {"received", a.Received}, {"lost", a.Lost},
		{"duplicate", a.Duplicates}, {"out_of_order", a.OutOfOrder}, {"foreign", a.Foreign},
	} {
		p.counter("queuebench_"+c.what+"_messages_total", l, c.n)
	}
}

// levels are of the step that is under way.
func (p page) levels(l labels, s *runner.Status) {
	if s.Plan.Rate > 0 { // a closed loop has none
		p.gauge("queuebench_target_rate", l, s.Plan.Rate.PerSecond())
	}
	p.gauge("queuebench_elapsed_seconds", l, max(0, s.Elapsed.Seconds()))
	p.gauge("queuebench_phase", l.with("phase", s.Phase), 1)
	p.gauge("queuebench_backlog_messages", l, float64(s.Backlog))
	p.gauge("queuebench_in_flight_messages", l, float64(s.InFlight))
	p.gauge("queuebench_client_queue_messages", l, float64(s.QueueDepth))
	p.gauge("queuebench_send_lag_seconds", l, s.Lag.Seconds())
	p.known("queuebench_memory_bytes", l, s.MemoryBytes)
	p.known("queuebench_disk_used_bytes", l, s.DiskUsedBytes)
}

const latency = "queuebench_end_to_end_seconds"

// quantiles are of the step so far.
var quantiles = []float64{0.5, 0.9, 0.99, 0.999}

// latencies is a histogram as Prometheus has it, and quantiles that are exact to
// 0.1 %, which no histogram of a few buckets gives.
func (p page) latencies(l labels, c stats.Compact) {
	i, n := 0, int64(0)
	for _, le := range bounds() {
		for ; i < len(c.Buckets); i++ {
			if _, high := stats.Bounds(c.Buckets[i].Index); high > le {
				break
			}
			n += c.Buckets[i].Count
		}
		p.counter(latency+"_bucket", l.with("le", strconv.FormatFloat(float64(le)/1e9, 'g', -1, 64)), n)
	}
	p.counter(latency+"_bucket", l.with("le", "+Inf"), c.N)
	p.counter(latency+"_count", l, c.N)
	p.gauge(latency+"_sum", l, c.Sum/1e9) // may be below 0, where clocks differ
	if c.N == 0 {
		return
	}
	for _, q := range quantiles {
		ns, _ := c.Quantile(q, 0)
		p.gauge("queuebench_end_to_end_quantile_seconds", l.with("quantile", fmt.Sprint(q)), float64(ns)/1e9)
	}
	p.gauge("queuebench_end_to_end_max_seconds", l, float64(c.Max)/1e9)
}

// bounds are the upper bounds of the histogram, ns: 1, 2 and 5 of each power of
// ten from 10 µs to 1,000 s.
func bounds() (all []int64) {
	for e := int64(10_000); e < 1e12; e *= 10 {
		all = append(all, e, 2*e, 5*e)
	}
	return append(all, 1e12)
}
