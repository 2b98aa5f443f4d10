// Package metrics shows a run to Prometheus while it goes on.
//
// It is a view for those who watch: every number of it is in the raw log, which
// alone is the result. It refuses to keep a history, to push, and to stop the
// world for its own sake (no runtime.ReadMemStats in a scrape, which would show
// up as latency).
//
// The text is written by VictoriaMetrics/metrics, which adds 0.11 MB to the
// stripped program; prometheus/client_golang adds 0.72 MB, with protobuf and
// text/template.
package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"queuebench/internal/loopback"
	"queuebench/objectstore"
	"queuebench/rawlog/logwriter"
	"queuebench/runner"
)

// Path is where the metrics are.
const Path = "/metrics"

// keptSteps is how many steps that have ended are still shown, so that a scrape
// after the end of a short one sees its counts.
const keptSteps = 64

// closeTimeout is how long Close waits for a scrape under way.
const closeTimeout = time.Second

// Run says of which run the metrics are, and what else they read.
type Run struct {
	ID    string
	Queue string                    // its kind
	Log   func() logwriter.Stats    // nil for none
	Store func() objectstore.Counts // requests to the queue's store; nil for none
}

// Exporter serves the metrics of one run.
type Exporter struct {
	listener net.Listener
	server   *http.Server
	serving  sync.WaitGroup
	failed   error // of serving; read after serving has ended

	mu    sync.Mutex
	run   Run
	begun int             // steps
	steps []runner.Status // the last state of each, the one under way last
}

// Listen serves metrics on an address such as "127.0.0.1:9464"; port 0 takes a
// free one. They are empty until Begin. The exporter is to be closed.
func Listen(ctx context.Context, address string) (*Exporter, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	// The library has this switch for the whole process only.
	metrics.ExposeMetadata(true)
	e := &Exporter{listener: l}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		e.Write(w)
	})
	e.server = &http.Server{Handler: e.guard(mux), MaxHeaderBytes: 16 << 10, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	e.serving.Go(func() {
		if err := e.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			e.failed = err
		}
	})
	return e, nil
}

// Address is where the metrics are, as a URL.
func (e *Exporter) Address() string {
	return "http://" + e.listener.Addr().String() + Path
}

// Loopback says whether only this host reaches them.
func (e *Exporter) Loopback() bool { return loopback.Addr(e.listener.Addr()) }

// guard refuses what a scrape does not do, and web pages whose own name was made
// to lead here.
func (e *Exporter) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch {
		case e.Loopback() && !loopback.Host(r.Host), loopback.ForeignPage(r.Header):
			http.Error(w, "these metrics are for localhost and 127.0.0.1, and not for web pages", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// Begin says of which run the metrics are.
func (e *Exporter) Begin(r Run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.run = r
}

// Show takes the state of a step. It is quick: the text is made when somebody
// asks for it.
func (e *Exporter) Show(s runner.Status) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.steps); n > 0 && same(&e.steps[n-1], &s) {
		e.steps[n-1] = s
		return
	}
	e.begun++
	if e.steps = append(e.steps, s); len(e.steps) > keptSteps {
		e.steps = append(e.steps[:0], e.steps[1:]...)
	}
}

func same(a, b *runner.Status) bool {
	return a.Plan.Step == b.Plan.Step && a.Plan.Repeat == b.Plan.Repeat
}

// Write writes the metrics in Prometheus' text format.
func (e *Exporter) Write(w io.Writer) {
	e.mu.Lock()
	run, begun, steps := e.run, e.begun, append([]runner.Status(nil), e.steps...)
	e.mu.Unlock()
	write(w, run, begun, steps)
}

// Close ends it, and returns when nothing of it goes on.
func (e *Exporter) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := e.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) { // a scrape hangs
		err = e.server.Close()
	}
	e.serving.Wait()
	return errors.Join(err, e.failed)
}
