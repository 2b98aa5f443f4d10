//go:build unix

package faults

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"queuebench/internal/faultproxy"
	"queuebench/internal/reliability"
	"queuebench/internal/versitygw"
)

// connection is what happens to connections during a run.
type connection struct {
	what string
	faultproxy.TCPPlan
}

// connections are the faults of a line to a broker. The line is there before the run,
// which began says the start of.
func connections(d time.Duration, began *atomic.Pointer[time.Time]) map[string]connection {
	down := gone(d)
	return map[string]connection{
		"cut":       {"each connection is cut after some 3 s, in the middle of what it carries", faultproxy.TCPPlan{CutAfter: 3 * time.Second}},
		"far-away":  {"10 to 40 ms of latency each way, 30 MB/s", faultproxy.TCPPlan{Latency: 10 * time.Millisecond, Jitter: 30 * time.Millisecond, Bandwidth: 30 << 20}},
		"half-open": {"each connection carries nothing any more after some 10 s, and stays open for a minute", faultproxy.TCPPlan{SilentAfter: 10 * time.Second, SilentFor: time.Minute}},
		"gone": {"the broker is gone for a quarter of the run, a minute at most", faultproxy.TCPPlan{Down: func(time.Duration) bool {
			at := began.Load()
			return at != nil && down(time.Since(*at))
		}}},
	}
}

// A topic of Kafka goes through a bad line, and the raw log's uploads through a bad
// network of their own. The broker is a real one with the build tag interop, and else
// kfake.
func TestKafkaThroughFaults(t *testing.T) {
	alongside(t, "FAULTS_DURATION")
	d, rate := load(t)
	benchProgram(t)                     // before the time of a fault runs
	var began atomic.Pointer[time.Time] // of the run in which the broker is gone
	all := connections(d, &began)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool { return !chosen("kafka/" + name) })
	if len(names) == 0 {
		return
	}
	// A broker tells clients where it is, so the lines are there before it.
	lines := map[string]*faultproxy.TCP{}
	var addresses []string
	for _, name := range names {
		plan := all[name].TCPPlan
		plan.Seed = 7
		line, err := faultproxy.StartTCP(t.Context(), "127.0.0.1", plan)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(line.Close)
		lines[name], addresses = line, append(addresses, line.Address)
	}
	for i, to := range brokers(t, addresses) {
		lines[names[i]].To(to)
	}
	gw := versitygw.Start(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			row := reliability.Try(t, reliability.Row{
				ID: "faults/" + brokerID + "-" + name, What: brokerName + ": " + all[name].what + "; the uploads of the raw log lose answers", Often: often(d, rate), Effort: d.Seconds() * rate,
				Holds: "the sums are whole, lost 0, duplicates 0 (acks=all, idempotent), the whole log stored, over in time, memory flat from three minutes on",
			})
			if d < time.Minute {
				t.Parallel()
			}
			uploads := plans(d)["answers-lost"].Plan
			uploads.Seed = 8
			p, err := faultproxy.Start(t.Context(), "127.0.0.1", gw.Endpoint, uploads)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			line := lines[name]
			b := start(t, t.TempDir(), gw.Environ(), "run", "--queue", "kafka", "--brokers", line.Address, "--partitions", "2", "--producers", "2",
				// What a silent connection costs is these; the defaults are 10 and 30 s.
				"-X", "socket.timeout.ms=2000", "-X", "request.timeout.ms=2000",
				"--rate", fmt.Sprint(rate), "--duration", d.String(), "--drain-timeout", drainTimeout.String(), "--message-size", "100",
				"--log-store", "s3://"+gw.Bucket+"/"+name+"?region=us-east-1&endpoint="+p.Endpoint, "--part-age", "2s", "--calibrate=false", "--quiet", "--json")
			if name == "gone" {
				began.Store(&b.began)
			}
			row.Happened = b.throughFaults(t, d, rate, func() map[faultproxy.Kind]int64 {
				met := line.Counts()
				maps.Copy(met, p.Counts())
				return met
			})
			if c := line.Counts(); len(c) < 2 && all[name].Latency == 0 {
				t.Errorf("nothing happened to the connections: %v", c)
			}
		})
	}
}
