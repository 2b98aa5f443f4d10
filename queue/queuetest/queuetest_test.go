package queuetest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"queuebench/queue"
	"queuebench/queue/memory"
	"queuebench/queue/queuetest"
)

// faultVariable makes TestSuite run over a queue with that fault.
const faultVariable = "QUEUETEST_FAULT"

var faults = map[string]struct {
	faults memory.Faults
	says   string // a part of what the suite must say
}{
	"drop":      {memory.Faults{DropEvery: 97}, "received only"},
	"duplicate": {memory.Faults{DuplicateEvery: 97}, "deliveries too many"},
	"refuse":    {memory.Faults{Refuse: memory.RefuseByAck}, "0 acknowledged"},
	"withhold":  {memory.Faults{WithholdAcks: true}, "Flush"},
}

func TestSuite(t *testing.T) {
	cfg := memory.Config{Retain: true}
	opt := queuetest.Options{Quiet: 20 * time.Millisecond, Messages: 200, Offsets: true, Keys: true, Retains: true}
	if f, ok := faults[os.Getenv(faultVariable)]; ok {
		cfg.Faults = f.faults
		opt.Timeout = 100 * time.Millisecond
	}
	queuetest.Run(t, func(t *testing.T) queue.Queue {
		q, err := memory.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}, opt)
}

// A suite that passes a queue which loses messages would be worth nothing.
func TestSuiteFailsOnFaults(t *testing.T) {
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSuite$")
			cmd.Env = append(os.Environ(), faultVariable+"="+name)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("the suite passed a queue with this fault:\n%s", out)
			}
			if !strings.Contains(string(out), f.says) {
				t.Errorf("the suite does not say %q:\n%s", f.says, out)
			}
		})
	}
}
