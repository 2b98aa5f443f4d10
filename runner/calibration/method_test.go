package calibration

import (
	"strings"
	"testing"
	"time"

	"queuebench/internal/golden"
	"queuebench/rawlog"
)

// What docs/method.md says of an instrument that is late comes out so.
func TestMethodExample(t *testing.T) {
	lines := golden.Examples(t, "../../docs/method.md")["instrument"]
	if len(lines) == 0 {
		t.Fatal("the document has no example of an instrument")
	}
	for _, x := range lines {
		lag, err := time.ParseDuration(strings.TrimPrefix(x[0], "the waiter's p99 is "))
		if err != nil {
			t.Fatal(err)
		}
		told := findings(&rawlog.Calibration{Wait: rawlog.WaitLag{P99Ns: int64(lag), Rate: 10_000}, ClockResolutionNs: 1}, true)
		want := x[1]
		if want == "nothing is told" {
			want = ""
		}
		if got := strings.Join(told, "\n"); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, the document says %s", x[0], got, x[1])
		}
	}
}
