package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A result that nobody reads, as in `bench scenario FILE | true`, leaves nothing
// behind, and hides nothing that is worse.
func TestAResultThatNobodyReadsLeavesNothingBehind(t *testing.T) {
	for expected, status := range map[string]int{"lost: 0": 141, "p50_below: 1ns": 3} {
		s := newStage(t)
		file := filepath.Join(s.dir, "x.yaml")
		if err := os.WriteFile(file, []byte("settings: {queue: memory, rate: 1000, duration: 500ms, calibrate: false}\n"+
			"environment: [{name: p, start: [sh, -c, \"sleep 1000; true\", \"${dir}\"]}]\nexpect: {"+expected+"}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		read.Close()
		p := startTo(t, s.dir, s.env, write, "scenario", file, "--quiet")
		write.Close()
		<-p.done
		text := p.stderr.String()
		if code := p.cmd.ProcessState.ExitCode(); code != status || (status == 141) != (text == "") || strings.Contains(text, "SIGPIPE") {
			t.Errorf("%s: %v, status %d, stderr %q", expected, p.cmd.ProcessState, code, text)
		}
		s.clear(t)
	}
}
