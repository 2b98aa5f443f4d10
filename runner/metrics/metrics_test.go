package metrics

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"go.uber.org/goleak"

	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logwriter"
	"queuebench/runner"
	"queuebench/stats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func listen(t *testing.T) *Exporter {
	t.Helper()
	e, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// scrape reads the metrics with Prometheus' own parser.
func scrape(t *testing.T, e *Exporter) map[string]*dto.MetricFamily {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := client.Get(e.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("%v, %s, %v", resp.Status, resp.Header, err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("%v in\n%s", err, body)
	}
	return families
}

// value is that of the only metric of a family that has these labels.
func value(t *testing.T, families map[string]*dto.MetricFamily, name string, l ...string) float64 {
	t.Helper()
	var found []float64
	for _, m := range families[name].GetMetric() {
		have := map[string]string{}
		for _, p := range m.Label {
			have[p.GetName()] = p.GetValue()
		}
		match := true
		for i := 0; i < len(l); i += 2 {
			match = match && have[l[i]] == l[i+1]
		}
		if match {
			found = append(found, m.GetCounter().GetValue()+m.GetGauge().GetValue()+m.GetUntyped().GetValue())
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s%v: %d metrics", name, l, len(found))
	}
	return found[0]
}

func status(step int, phase string) runner.Status {
	var c stats.Counter
	for _, ns := range []int64{-5, 9_000, 15_000, 3_000_000, 3_000_000, 7_000_000_000_000} {
		_ = c.Record(ns)
	}
	return runner.Status{
		Plan: runner.Plan{Step: step, Rate: 2_500_000}, Phase: phase, Elapsed: 1500 * time.Millisecond,
		SoFar:    rawlog.Accounting{Scheduled: 12, Attempted: 11, Acked: 10, Failed: 1, Overrun: 1, Received: 9, Lost: 1, Duplicates: 2, OutOfOrder: 3, Foreign: 4},
		EndToEnd: c.Take(), Backlog: 7, InFlight: 5, QueueDepth: 6, Lag: 2 * time.Millisecond, MemoryBytes: 1 << 20, DiskUsedBytes: rawlog.Null,
	}
}

func TestPrometheusReadsWhatIsShown(t *testing.T) {
	e := listen(t)
	e.Begin(Run{
		ID: "r-1", Queue: `od"d\` + "\n",
		Log:   func() logwriter.Stats { return logwriter.Stats{Rows: 21, Parts: 3, BlockedNs: 1_500_000_000} },
		Store: func() objectstore.Counts { return objectstore.Counts{Put: 8, Miss: 9, Failed: 1, Open: 2} },
	})
	e.Show(status(0, "load"))
	e.Show(status(0, "ended"))
	e.Show(status(1, "drain"))
	f := scrape(t, e)

	of := []string{"run", "r-1", "queue", `od"d\` + "\n"}
	for _, want := range []struct {
		name   string
		labels []string
		value  float64
	}{
		{"queuebench_steps_total", nil, 2},
		{"queuebench_scheduled_messages_total", []string{"step", "0", "repeat", "0"}, 12},
		{"queuebench_acked_messages_total", []string{"step", "1", "repeat", "0"}, 10},
		{"queuebench_lost_messages_total", []string{"step", "0"}, 1},
		{"queuebench_duplicate_messages_total", []string{"step", "0"}, 2},
		{"queuebench_backlog_messages", []string{"step", "1"}, 7},
		{"queuebench_send_lag_seconds", []string{"step", "1"}, 0.002},
		{"queuebench_target_rate", []string{"step", "1"}, 2500},
		{"queuebench_elapsed_seconds", nil, 1.5},
		{"queuebench_phase", []string{"phase", "drain"}, 1},
		{"queuebench_memory_bytes", nil, 1 << 20},
		{"queuebench_log_rows_total", nil, 21},
		{"queuebench_log_blocked_seconds_total", nil, 1.5},
		{"queuebench_store_requests_total", []string{"kind", "miss"}, 9},
		{"queuebench_store_connections", nil, 2},
		{"queuebench_end_to_end_seconds_bucket", []string{"step", "1", "le", "1e-05"}, 2},
		{"queuebench_end_to_end_seconds_bucket", []string{"step", "1", "le", "2e-05"}, 3},
		{"queuebench_end_to_end_seconds_bucket", []string{"step", "1", "le", "0.002"}, 3},
		{"queuebench_end_to_end_seconds_bucket", []string{"step", "1", "le", "0.005"}, 5},
		{"queuebench_end_to_end_seconds_bucket", []string{"step", "1", "le", "1000"}, 5},
		{"queuebench_end_to_end_seconds_bucket", []string{"step", "1", "le", "+Inf"}, 6},
		{"queuebench_end_to_end_seconds_count", []string{"step", "1"}, 6},
		{"queuebench_end_to_end_max_seconds", []string{"step", "1"}, 7000},
	} {
		if got := value(t, f, want.name, append(want.labels, of...)...); got != want.value {
			t.Errorf("%s%v is %g, want %g", want.name, want.labels, got, want.value)
		}
	}
	if typ := f["queuebench_acked_messages_total"].GetType(); typ != dto.MetricType_COUNTER {
		t.Errorf("a counter is a %v", typ)
	}
	if f["queuebench_disk_used_bytes"] != nil {
		t.Error("what is not known is shown")
	}
	if n := len(f["queuebench_backlog_messages"].Metric); n != 1 {
		t.Errorf("levels of %d steps", n)
	}
	if len(f) < 30 || f["process_resident_memory_bytes"] == nil && f["process_virtual_memory_bytes"] == nil {
		t.Errorf("%d families, none of the process", len(f))
	}
}

// The histogram against a count of the values themselves.
func TestHistogramCountsWhatIsBelowItsBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var c stats.Counter
	var values []int64
	for range 5000 {
		v := rng.Int64N(1 << (1 + rng.IntN(45)))
		values = append(values, v)
		_ = c.Record(v)
	}
	e := listen(t)
	s := status(0, "load")
	s.EndToEnd = c.Take()
	e.Begin(Run{ID: "r"})
	e.Show(s)
	f := scrape(t, e)
	for _, le := range bounds() {
		least, most := 0.0, 0.0
		for _, v := range values {
			// A bucket is 0.1 % wide, and the one that holds a bound counts above it.
			if float64(v) <= float64(le)*0.999 {
				least++
			}
			if v <= le {
				most++
			}
		}
		if got := value(t, f, latency+"_bucket", "le", strconv.FormatFloat(float64(le)/1e9, 'g', -1, 64)); got < least || got > most {
			t.Errorf("%d ns: %g of %g to %g", le, got, least, most)
		}
	}
}

func TestStepsThatEndedStayForAWhile(t *testing.T) {
	e := listen(t)
	e.Begin(Run{ID: "r"})
	for i := range 100 {
		e.Show(status(i, "load"))
		e.Show(status(i, "ended"))
	}
	f := scrape(t, e)
	if n := len(f["queuebench_acked_messages_total"].Metric); n != keptSteps {
		t.Errorf("%d steps", n)
	}
	if got := value(t, f, "queuebench_steps_total"); got != 100 {
		t.Errorf("%g steps have begun", got)
	}
	if f["queuebench_backlog_messages"] != nil {
		t.Error("a step that has ended has levels")
	}
}

func TestBeforeARunThereIsNothingOfIt(t *testing.T) {
	e := listen(t)
	if !e.Loopback() {
		t.Errorf("%s is no loopback address", e.Address())
	}
	for name := range scrape(t, e) {
		if strings.HasPrefix(name, "queuebench_") {
			t.Errorf("%s is there", name)
		}
	}
}

func TestOnlyThisHostsScrapesAreAnswered(t *testing.T) {
	e, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if !e.Loopback() {
		t.Error("it is not known that only this host reaches it")
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, c := range []struct {
		method, host, path, origin string
		status                     int
	}{
		{"GET", "", Path, "", 200}, {"HEAD", "localhost:1", Path, "", 200}, {"GET", "[::1]", Path, "http://localhost:3000", 200},
		{"GET", "", "/", "", 404}, {"GET", "", "/debug/pprof/", "", 404}, {"GET", "", Path + "/../x", "", 404},
		{"POST", "", Path, "", 405}, {"DELETE", "", Path, "", 405}, {"OPTIONS", "", Path, "", 405}, {"TRACE", "", Path, "", 405},
		{"GET", "example.org", Path, "", 421}, {"GET", "127.0.0.1.example.org", Path, "", 421}, {"GET", "", Path, "https://example.org", 421},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, strings.TrimSuffix(e.Address(), Path)+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Host = c.host; c.host == "" {
			r.Host = r.URL.Host
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.status || resp.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(resp.Header.Get("Content-Security-Policy"), "default-src 'none'") || resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%+v: status %d, %v", c, resp.StatusCode, resp.Header)
		}
	}
}

func TestCloseWaitsForNobodyForLong(t *testing.T) {
	e, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", e.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("GET /metrics HTTP/1.1\r\n")); err != nil { // and no more
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestAnAddressThatIsTakenIsAnError(t *testing.T) {
	e := listen(t)
	if _, err := Listen(t.Context(), e.listener.Addr().String()); err == nil || !strings.Contains(err.Error(), "metrics") {
		t.Errorf("got %v", err)
	}
}
