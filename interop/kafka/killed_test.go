//go:build interop

package kafka

import (
	"path/filepath"
	"testing"
)

// The scenarios that come with the project kill a broker in the middle of a run.
// Whatever the host does to latencies and to the time to recover, nothing that
// was acknowledged by all replicas may be lost, and an idempotent producer
// repeats nothing.
func TestKilledBrokers(t *testing.T) {
	root, err := filepath.Abs("../../scenarios")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scenario string
		vary     string // acknowledgement settings; empty for those of the file
		acks     []string
	}{
		{"kafka-killed", "kafka-set=acks=all", []string{"all"}},
		{"kafka-one-of-three-killed", "", []string{"all", "1"}},
		{"jetstream-killed", "", []string{""}},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			args := []string{"scenario", filepath.Join(root, c.scenario+".yaml"), "--duration", "20s"}
			if c.vary != "" {
				args = append(args, "--vary", c.vary)
			}
			r, status := bench(t, args...)
			if len(r.Steps) != len(c.acks) {
				t.Fatalf("status %d, %d steps", status, len(r.Steps))
			}
			for i, acks := range c.acks {
				a := r.Steps[i].Accounting
				t.Logf("acks=%s: acked %d, lost %d, duplicates %d, failed %d, overrun %d", acks, a.Acked, a.Lost, a.Duplicates, a.Failed, a.Overrun)
				switch {
				case a.Acked == 0 || a.Received == 0:
					t.Errorf("accounting %+v", a)
				case acks != "1" && a.Lost != 0:
					t.Errorf("%d acknowledged messages were lost", a.Lost)
				case acks == "all" && (a.Duplicates != 0 || a.Failed != 0 || a.Unconfirmed != 0):
					t.Errorf("accounting %+v", a)
				}
			}
			for _, v := range r.Scenario.Verdicts {
				t.Logf("%s: %s, %s", v.Expectation, v.State, v.Found)
			}
		})
	}
}
