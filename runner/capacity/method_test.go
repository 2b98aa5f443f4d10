package capacity

import (
	"fmt"
	"testing"

	"queuebench/internal/golden"
)

// What docs/method.md says of the search comes out so.
func TestMethodExample(t *testing.T) {
	lines := golden.Examples(t, "../../docs/method.md")["search"]
	if len(lines) == 0 {
		t.Fatal("the document has no example of a search")
	}
	for _, x := range lines {
		var from, limit, tolerance, low, high float64
		if _, err := fmt.Sscanf(x[0], "from %f, a rate holds up to %f msg/s, tolerance %f %%", &from, &limit, &tolerance); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscanf(x[1], "between %f and %f", &low, &high); err != nil {
			t.Fatal(err)
		}
		r, _ := search(t, Config{Min: from, Max: 1e6, Tolerance: tolerance / 100}, func(try Try) Verdict { return Verdict{Held: try.Rate <= limit, Why: "it grew"} })
		if !r.Converged || r.Rate < low || r.Rate > high {
			t.Errorf("%s comes to %+v, the document says %s", x[0], r, x[1])
		}
	}
}
