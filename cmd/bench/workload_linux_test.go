package main

import (
	"path/filepath"
	"strings"
	"testing"

	"queuebench/workload"
)

// shortened are the flags with which each command's workloads are run here.
var shortened = map[string]string{
	"run":     "--duration 300ms --drain-timeout 20s",
	"sweep":   "--duration 150ms --drain-timeout 20s",
	"closed":  "--operations 60 --warmup-operations 10 --drain-timeout 20s",
	"backlog": "--fill-messages 3000 --rate 20000",
}

// shortenedMore are flags of single files.
var shortenedMore = map[string]string{
	"delta-sweep.yaml":      "--autocommit-duration-ms 50",
	"commit-intervals.yaml": "--rates 1000",
	"course-consume.yaml":   "--fill-messages 800",
}

func TestEachShippedWorkloadRuns(t *testing.T) {
	known := knownSettings(newApp())
	for _, path := range shippedIn(t, "workloads") {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			f, err := workload.Open(path, "", known)
			if err != nil {
				t.Fatal(err)
			}
			cmd := f.Command
			if cmd == "" {
				cmd = "run"
			}
			flags, ok := shortened[cmd]
			if !ok {
				t.Fatalf("add the flags that make a workload of `bench %s` short to this test", cmd)
			}
			if f, err = workload.Open(path, cmd, known); err != nil { // as that command reads it
				t.Fatal(err)
			}
			t.Parallel() // they mostly wait
			stage := newStage(t)
			args := append([]string{cmd, "--workload", path, "--json"}, strings.Fields(flags+" "+shortenedMore[name])...)
			p := stage.start(t, args...)
			<-p.done
			stdout := p.stdout.String()
			if status := p.cmd.ProcessState.ExitCode(); status != 0 {
				t.Fatalf("bench %q: status %d, %s", args, status, p.stderr.String())
			}
			r := jsonOf(t, stdout)
			for _, s := range r.Steps {
				if a := s.Accounting; a.Received == 0 || a.Lost != 0 {
					t.Errorf("step %v: %+v", s.Settings, a)
				}
			}
			m, _ := readLog(t, lastLine(stdout))
			if m.Settings["workload"] != path {
				t.Errorf("the run names the workload %q", m.Settings["workload"])
			}
			for _, v := range f.Values {
				if takenAwayBy(args, v.Name) {
					continue
				}
				if got, want := m.Settings[v.Name], strings.Join(v.Texts, ","); !sameSetting(got, want) {
					t.Errorf("%s is %q in the run, %q in the file", v.Name, got, want)
				}
			}
		})
	}
}
