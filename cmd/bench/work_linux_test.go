package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"queuebench/internal/reliability"
	"queuebench/internal/versitygw"
	"queuebench/rawlog"
)

// hosts makes network namespaces with addresses of their own on a bridge, on
// which this process has the address that is returned. Their names are
// qb-PID-0, ….
func hosts(t *testing.T, n int) (bridge string, names []string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root makes network namespaces: run this test as root")
	}
	id := fmt.Sprintf("qb%d", os.Getpid()%100000)
	net := fmt.Sprintf("10.%d.%d.", 200+os.Getpid()%50, os.Getpid()/50%256)
	ip := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	t.Cleanup(func() {
		for _, name := range names {
			_ = exec.Command("ip", "netns", "del", name).Run() // its veth goes with it
		}
		_ = exec.Command("ip", "link", "del", id).Run()
	})
	if out, err := exec.Command("ip", "link", "add", id, "type", "bridge").CombinedOutput(); err != nil {
		t.Skipf("this host makes no bridge, and so no hosts of its own: %v %s", err, out)
	}
	if out, err := exec.Command("ip", "netns", "add", id).CombinedOutput(); err != nil {
		t.Skipf("this host makes no network namespaces: %v %s", err, out)
	}
	ip("netns", "del", id)
	ip("addr", "add", net+"1/24", "dev", id)
	ip("link", "set", id, "up")
	for i := range n {
		name, here, there := fmt.Sprintf("%s-%d", id, i), fmt.Sprintf("%sa%d", id, i), fmt.Sprintf("%sb%d", id, i)
		ip("netns", "add", name)
		names = append(names, name)
		ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
		ip("link", "set", here, "master", id, "up")
		ip("-n", name, "addr", "add", fmt.Sprintf("%s%d/24", net, 10+i), "dev", there)
		ip("-n", name, "link", "set", there, "up")
		ip("-n", name, "link", "set", "lo", "up")
	}
	return net + "1", names
}

// forward passes what comes to an address on to another one, until the test ends.
func forward(t *testing.T, address, to string) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() { l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer from.Close()
				conn, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				wg.Go(func() { io.Copy(conn, from); conn.(*net.TCPConn).CloseWrite() })
				io.Copy(from, conn)
				conn.Close()
			})
		}
	})
	return l.Addr().String()
}

// Four workers on hosts of their own: one is killed in the middle, and the clock
// of another one is wrong by 90 s.
func TestWorkersOnHostsOfTheirOwn(t *testing.T) {
	row := reliability.Try(t, reliability.Row{
		ID: "workers/hosts-of-their-own", What: "four workers in network namespaces of their own: one killed by `kill -9`, the clock of another one 90 s wrong", Often: "once, 3,000/s for 4 s", Effort: 1,
		Holds: "the others do all of their part, the dead one is named, all begin within a second",
	})
	gw := versitygw.Start(t)
	bridge, names := hosts(t, 4)
	gw.CreateBucket(t, "workers")
	bareEnvironment(t)
	at := forward(t, bridge, strings.TrimPrefix(gw.Endpoint, "http://"))
	clockAt := net.JoinHostPort(bridge, "0")
	serve := startBench(t, "clock", "serve", "--addr", clockAt)
	await(t, "the clock's address", func() bool { return strings.Contains(serve.stdout.String(), "\n") })
	clockAt = strings.TrimSpace(serve.stdout.String())

	place := []string{"--run-id", "far-1", "--store", "s3://workers/queue", "--endpoint", "http://" + at, "--region", "us-east-1"}
	var workers []*process
	for i := range 4 {
		args := append([]string{"netns", "exec", names[i], os.Args[0], "work", "--worker", fmt.Sprintf("%d/4", i), "--roles", "produce=3,consume=1",
			"--calibrate=false", "--quiet", "--rate", "3000", "--duration", "4s", "--partitions", "3", "--commit-interval", "100ms", "--part-age", "1s",
			"--drain-timeout", "4s", "--clock-peer", clockAt, "--spool", fmt.Sprintf("./spool-%d", i)}, place...)
		p := &process{cmd: exec.Command("ip", args...), done: make(chan struct{})}
		p.cmd.Env = append(append(os.Environ(), gw.Environ()...), asProcess+"=1")
		if i == 2 {
			p.cmd.Env = append(p.cmd.Env, withSkew+"=-90s")
		}
		p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
		if err := p.cmd.Start(); err != nil { // ip becomes bench
			t.Fatal(err)
		}
		go func() { defer close(p.done); p.cmd.Wait() }()
		t.Cleanup(func() { p.cmd.Process.Kill(); <-p.done })
		workers = append(workers, p)
	}
	run := gw.Dir + "/workers/queue/runs/far-1"
	await(t, "a part of the worker that is killed", func() bool {
		for _, f := range filesBelow(run + "/sent") {
			if strings.Contains(f, "producer-1") && strings.HasSuffix(f, ".parquet") {
				return true
			}
		}
		return false
	})
	workers[1].signal(t, syscall.SIGKILL)
	workers[0].ends(t, 0)
	workers[2].ends(t, 0)
	workers[3].ends(t, 1) // end marks of the dead one did not come

	status, out, errs := bench(t, append([]string{"finish", "--wait", "0s", "--json", "--force"}, append(place[:2:2], "--store", gw.Dir+"/workers/queue")...)...)
	var end closing
	if err := json.Unmarshal([]byte(out), &end); err != nil || status != 1 || !strings.Contains(errs, "produce-1 "+stateNoEnd) {
		t.Fatalf("finish: status %d: %s%s", status, out, errs)
	}
	var acked, received int64
	for i, s := range end.Workers {
		want := stateEnded
		if i == 1 {
			want = stateNoEnd
		}
		if s.State != want {
			t.Errorf("%+v", s)
		}
		acked, received = acked+s.Acked, received+s.Received
	}
	// The others did all of their part, and what the dead one did was received.
	if acked != 8000 || received < 8000 || received > 12000 {
		t.Errorf("acked %d by two workers, received %d", acked, received)
	}
	row.Happened = fmt.Sprintf("%d acknowledged by the two that went on, %d received", acked, received)
	first, skewed := processManifest(t, run, "produce-0"), processManifest(t, run, "produce-2")
	if n := len(skewed.ClockOffsets); n == 0 || len(skewed.ClockOffsets[0].Points) == 0 {
		t.Fatal("no offset was measured")
	}
	p := skewed.ClockOffsets[0].Points[0]
	if apart := max(p.OffsetNs, -p.OffsetNs) - 90e9; apart > 1e9 || apart < -1e9 {
		t.Errorf("the offset is %v", time.Duration(p.OffsetNs))
	}
	if d := first.Steps[0].StartedNs - skewed.Steps[0].StartedNs - 90e9; d > int64(time.Second) || d < -int64(time.Second) {
		t.Errorf("the one whose clock is wrong began %v after the others", time.Duration(-d))
	}
	for _, m := range []*rawlog.Manifest{first, skewed} {
		if a := m.Steps[0].Accounting; a.Scheduled != 4000 || a.Acked != 4000 || len(m.Missing) > 0 {
			t.Errorf("%s: %+v, missing %v", m.Process, a, m.Missing)
		}
	}
}
