package pace

import (
	"runtime"
	"testing"
)

func TestProcessorsAreAddedAndGivenBack(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	before := runtime.GOMAXPROCS(0)
	for spinning, extra := range map[int]int{0: 0, 1: 1, 1 << 20: runtime.NumCPU()} {
		undo := Processors(spinning)
		if n := runtime.GOMAXPROCS(0); n != before+extra {
			t.Errorf("%d that spin: %d processors, %d before", spinning, n, before)
		}
		undo()
		if n := runtime.GOMAXPROCS(0); n != before {
			t.Errorf("%d processors are left, %d before", n, before)
		}
	}
	t.Setenv("GOMAXPROCS", "1")
	defer Processors(1)()
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d processors although the environment says how many", n)
	}
}
