//go:build interop

package kafka

import (
	"path/filepath"
	"strings"
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
		scenario, acks string
		exactly        bool // it promises that nothing is repeated and nothing fails
	}{
		{"kafka-killed", "all", true},
		{"kafka-one-of-three-killed", "all", true},
		{"jetstream-killed", "", false},
	} {
		t.Run(strings.TrimSuffix(c.scenario+" acks="+c.acks, " acks="), func(t *testing.T) {
			args := []string{"scenario", filepath.Join(root, c.scenario+".yaml"), "--duration", "20s"}
			if c.acks != "" {
				args = append(args, "--kafka-set", "acks="+c.acks)
			}
			r, status := bench(t, args...)
			if len(r.Steps) != 1 {
				t.Fatalf("status %d, %d steps", status, len(r.Steps))
			}
			a := r.Steps[0].Accounting
			t.Logf("acked %d, lost %d, duplicates %d, failed %d, overrun %d", a.Acked, a.Lost, a.Duplicates, a.Failed, a.Overrun)
			for _, v := range r.Scenario.Verdicts {
				t.Logf("%s: %s, %s", v.Expectation, v.State, v.Found)
			}
			switch {
			case a.Acked == 0 || a.Received == 0:
				t.Errorf("accounting %+v", a)
			case a.Lost != 0:
				t.Errorf("%d acknowledged messages were lost", a.Lost)
			case c.exactly && (a.Duplicates != 0 || a.Failed != 0 || a.Unconfirmed != 0):
				t.Errorf("accounting %+v", a)
			}
		})
	}
}
