package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"queuebench/internal/command"
)

// The metrics of a run that goes on, and none once it has ended.
func TestMetricsOfARunThatGoesOn(t *testing.T) {
	bareEnvironment(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var stdout bytes.Buffer
	var stderr watched
	done := make(chan int, 1)
	go func() {
		done <- command.Main(ctx, newApp(), strings.Fields("bench run --queue memory --rate 1000 --duration 40s --drain-timeout 1s --metrics-addr 127.0.0.1:0 --calibrate=false --quiet --run-id m1"), &stdout, &stderr)
	}()
	where := regexp.MustCompile(`metrics at (http://127\.0\.0\.1:\d+/metrics)`)
	var address string
	await(t, "the address", func() bool {
		if m := where.FindStringSubmatch(stderr.String()); m != nil {
			address = m[1]
		}
		return address != ""
	})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	acked := regexp.MustCompile(`queuebench_acked_messages_total\{run="m1",queue="memory",step="0",repeat="0"\} [1-9]`)
	await(t, "acknowledged messages", func() bool {
		resp, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return err == nil && acked.Match(body) && bytes.Contains(body, []byte(`queuebench_log_parts_total{run="m1",queue="memory"}`))
	})
	cancel() // as Ctrl-C does
	if status := <-done; status != 130 {
		t.Errorf("status %d, %s", status, stderr.String())
	}
	if resp, err := client.Get(address); err == nil {
		resp.Body.Close()
		t.Error("metrics of a run that has ended")
	}
}

func TestMetricsAddress(t *testing.T) {
	bareEnvironment(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		address, want string
		status        int
	}{
		{"9464", "write a host and a port", 2},
		{"127.0.0.1:", "write a host and a port", 2},
		{taken.Addr().String(), "--metrics-addr " + taken.Addr().String(), 1},
		{"127.0.0.1:0", "bench: metrics at http://127.0.0.1:", 0},
	} {
		status, _, stderr := bench(t, "run", "--queue", "memory", "--rate", "100", "--duration", "50ms", "--metrics-addr", c.address)
		if status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %s", c.address, status, stderr)
		}
	}
	if left := filesBelow("queuebench-spool"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
