//go:build interop && linux && !min && !norabbitmq

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The scenario in which a server with quorum queues is killed and started again:
// nothing that was confirmed is lost, the run goes on after the server came back and
// ends, and each message has a fate.
func TestAKilledServerOnRabbitMQ(t *testing.T) {
	all := shippedIn(t, "scenarios")
	at := slices.IndexFunc(all, func(path string) bool { return filepath.Base(path) == "rabbitmq-killed.yaml" })
	if at < 0 {
		t.Fatal("there is no rabbitmq-killed.yaml")
	}
	bareEnvironment(t)
	status, stdout, stderr := bench(t, append([]string{"scenario", all[at], "--json", "--quiet"}, strings.Fields("--vary rabbitmq-type=quorum --rate 200 --duration 40s --drain-timeout 60s")...)...)
	if stdout == "" {
		t.Fatalf("status %d, %s", status, stderr)
	}
	r := jsonOf(t, stdout)
	if len(r.Steps) != 1 {
		t.Fatalf("%+v", r)
	}
	a := r.Steps[0].Accounting
	// Of the load, 28 s come after the fault; a server that takes long to start has
	// them all at once.
	if a.Scheduled != 8000 || a.Lost != 0 || a.Acked < 4000 || a.Acked+a.Failed+a.Unconfirmed+a.Overrun != a.Scheduled {
		t.Errorf("accounting %+v, stderr %s", a, stderr)
	}
}
