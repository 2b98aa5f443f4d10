package main

import (
	"os"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/objectstore"
	"queuebench/rawlog/logstore"
)

// The wall clock is set between the starts of the two halves of a run, forth and back:
// no latency knows of it, neither live nor in the analysis of the log, whether or not
// the halves measure each other's clock.
func TestTheWallClockIsSetBetweenTwoProcesses(t *testing.T) {
	for name, step := range map[string]string{"forth": "3h", "back": "-3h"} {
		t.Run(name, func(t *testing.T) {
			bareEnvironment(t)
			place := []string{"--run-id", "r-1", "--store", "./lake", "--log-store", "./logs", "--commit-interval", "20ms", "--calibrate=false"}
			env := append(os.Environ(), asProcess+"=1")
			consumers := startIn(t, "", append(env, withStep+"="+step), append([]string{"consume"}, place...)...)
			producers := startIn(t, "", env, append([]string{"produce", "--rate", "1000", "--duration", "1s"}, place...)...)
			producers.ends(t, 0)
			consumers.ends(t, 0)
			src, err := logstore.Open(t.Context(), "./logs/r-1", objectstore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			digest, err := analysis.Read(t.Context(), src, analysis.Options{})
			if err != nil {
				t.Fatal(err)
			}
			none := time.Duration(0)
			summary := analysis.Summarize(digest, analysis.View{Warmup: &none})
			s := summary.Steps[0]
			if a := s.Accounting; a.Received != 1000 || a.Lost != 0 || a.Duplicates != 0 || a.Negative != 0 || a.Unknown != 0 {
				t.Errorf("%+v", a)
			}
			if e := s.Latencies["end_to_end"]; e.N != 1000 || e.MinNs < 0 || e.MaxNs > int64(time.Minute) {
				t.Errorf("end to end %+v; findings %+v", e, s.Findings)
			}
		})
	}
}
