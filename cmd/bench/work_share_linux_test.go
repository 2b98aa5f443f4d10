//go:build !min && !nokafka && !nonats

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/twmb/franz-go/pkg/kfake"

	"queuebench/analysis"
	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logstore"
)

// loopbackBrokers are servers in this process, with the flags that name them.
func loopbackBrokers(t *testing.T) map[string][]string {
	t.Helper()
	k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.GroupMinSessionTimeout(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	n, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	n.Start()
	t.Cleanup(func() { n.Shutdown(); n.WaitForShutdown() })
	if !n.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server is not ready")
	}
	return map[string][]string{
		"kafka": {"--brokers", k.ListenAddrs()[0], "-X", "group.id=shared", "-X", "session.timeout.ms=6000", "-X", "heartbeat.interval.ms=500"},
		"nats":  {"--nats-url", n.ClientURL(), "--nats-ack-wait", "5s", "--nats-ack-timeout", "60s", "--nats-storage", "memory"},
	}
}

// startShared starts four workers, one of which produces; three consume in one
// group.
func startShared(t *testing.T, queue string, flags []string, run string) (all []*process) {
	t.Helper()
	for i := range 4 {
		all = append(all, startBench(t, append([]string{"work", "--queue", queue, "--run-id", run, "--worker", fmt.Sprintf("%d/4", i), "--roles", "produce=1,consume=3", "--store", "./lake",
			"--spool", fmt.Sprintf("./spool-%s-%d", run, i), "--rate", "300", "--duration", "3s", "--partitions", "6", "--part-age", "200ms", "--drain-timeout", "90s", "--join-timeout", "3m", "--start-delay", "3s", "--quiet"}, flags...)...))
	}
	return all
}

func analyzed(t *testing.T, run string) (*analysis.Digest, analysis.StepSummary) {
	t.Helper()
	src, err := logstore.Open(t.Context(), "./lake/runs/"+run, objectstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := analysis.Read(t.Context(), src, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range analysis.Summarize(d, analysis.View{}).Steps[0].Findings {
		if f.ID == "accounting-breach" {
			t.Error(f.Text)
		}
	}
	return d, analysis.Summarize(d, analysis.View{}).Steps[0]
}

// consumedBy are the deliveries of each consuming process, by its manifest.
func consumedBy(t *testing.T, run string) (received []int64, duplicates int64) {
	t.Helper()
	for i := range 3 {
		m := processManifest(t, "./lake/runs/"+run, fmt.Sprintf("consume-%d", i))
		if len(m.Steps) == 0 {
			received = append(received, -1)
			continue
		}
		a := m.Steps[0].Accounting
		received = append(received, a.Received)
		duplicates += a.Duplicates
	}
	return received, duplicates
}

// Three workers are members of one group: each message comes to one of them, and
// all know when all have come.
func TestWorkersShareAGroup(t *testing.T) {
	bareEnvironment(t)
	started := map[string][]*process{}
	for queue, flags := range loopbackBrokers(t) {
		started[queue] = startShared(t, queue, flags, "share-"+queue)
	}
	for queue, all := range started {
		t.Run(queue, func(t *testing.T) { sharedAll(t, all, "share-"+queue) })
	}
}

// sharedAll waits for the workers, and holds what each received against the log.
func sharedAll(t *testing.T, all []*process, run string) {
	t.Helper()
	for _, p := range all {
		p.ends(t, 0)
	}
	received, twice := consumedBy(t, run)
	d, s := analyzed(t, run)
	a := s.Accounting
	if a.Scheduled != 900 || a.Acked != 900 || a.Received != 900 || a.Lost != 0 || a.Unknown != 0 || !s.Complete || !d.Manifest.Complete {
		t.Errorf("%+v, complete %v, %q", a, s.Complete, d.Manifest.Reason)
	}
	if sum := received[0] + received[1] + received[2] + twice; sum != a.Received+a.Duplicates {
		t.Errorf("the processes had %v and %d twice; the log has %d and %d", received, twice, a.Received, a.Duplicates)
	}
	for i, n := range received {
		if n == 0 {
			t.Errorf("consume-%d received %d of 900", i, n)
		}
	}
	if e := d.Manifest.Steps[0]; len(e.Groups) != 1 || !e.SharedGroups {
		t.Errorf("groups %v, shared %v", e.Groups, e.SharedGroups)
	}
}

// A worker that is killed leaves its share to the others: nothing is lost, what
// came again is counted, and only what it may have received after its last part
// is unknown.
func TestAWorkerOfASharedGroupIsKilled(t *testing.T) {
	bareEnvironment(t)
	started := map[string][]*process{}
	for queue, flags := range loopbackBrokers(t) {
		started[queue] = startShared(t, queue, append(flags, "--remove=false"), "shot-"+queue) // it would wait for the dead one
	}
	for queue, all := range started {
		shoot(t, all, "shot-"+queue)
	}
	for queue, all := range started {
		t.Run(queue, func(t *testing.T) { othersHadAll(t, all, "shot-"+queue) })
	}
}

// shoot kills the second of the consuming workers once it has recorded something.
func shoot(t *testing.T, all []*process, run string) {
	t.Helper()
	await(t, "a part of the worker that is killed", func() bool {
		for _, f := range filesBelow("./lake/runs/" + run + "/received") {
			if strings.Contains(f, "consumer-1") && strings.HasSuffix(f, ".parquet") {
				return true
			}
		}
		return false
	})
	all[2].signal(t, syscall.SIGKILL)
}

// othersHadAll waits for the workers that live, and holds the log to what was sent.
func othersHadAll(t *testing.T, all []*process, run string) {
	t.Helper()
	for _, i := range []int{0, 1, 3} {
		all[i].ends(t, 0)
	}
	d, s := analyzed(t, run)
	a := s.Accounting
	// What the dead one acknowledged to the queue and had in its open part.
	if a.Lost != 0 || a.Scheduled != 900 || a.Acked+a.Unknown != 900 || a.Received != a.Acked || a.Unknown > 450 {
		t.Errorf("%+v", a)
	}
	if s.Complete || d.Manifest.Complete || !strings.Contains(d.Manifest.Reason, "consume-1") {
		t.Errorf("complete %v, %v, %q", s.Complete, d.Manifest.Complete, d.Manifest.Reason)
	}
	// The others had what was of its partitions to the end.
	after := map[int64]bool{}
	for _, name := range filesBelow("./lake/runs/" + run + "/received") {
		if !strings.HasSuffix(name, ".parquet") || strings.Contains(name, "consumer-1-") {
			continue
		}
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var r rawlog.PartReader
		if err := r.Open(rawlog.Memory(body), "partition", "seq"); err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			for i, p := range r.Columns()[0].Ints[:r.Len()] {
				if r.Columns()[1].Ints[i] > 800 {
					after[p] = true
				}
			}
		}
	}
	if len(after) != 6 {
		t.Errorf("the last messages came from the partitions %v to the others, want all 6", after)
	}
}
