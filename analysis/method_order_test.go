//go:build !js

package analysis

import (
	"fmt"
	"testing"

	"queuebench/internal/golden"
	"queuebench/rawlog"
)

// What docs/method.md says of order comes out of a log that has it.
func TestMethodOrder(t *testing.T) {
	all := golden.Examples(t, "../docs/method.md")["order"]
	if len(all) == 0 {
		t.Fatal("the document has no example of order")
	}
	for _, x := range all {
		r := oneStep(5)
		r.received = nil
		for i, seq := range numbers(t, x[0]) {
			r.received = append(r.received, rawlog.ReceivedRow{Group: "g", Seq: int64(seq), ReceivedNs: testStart + 1e8 + int64(i)*1e6})
		}
		src, _ := logOf(t, 100, 1000, sec, r)
		d, err := Read(t.Context(), src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%d out of order", d.Steps[0].Accounting.OutOfOrder); got != x[1] {
			t.Errorf("%s gives %s, the document says %s", x[0], got, x[1])
		}
	}
}
