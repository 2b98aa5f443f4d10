package pace

import (
	"runtime"
	"testing"
	"time"
)

func TestProcessorsAreAddedAndGivenBack(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	before := runtime.GOMAXPROCS(0)
	for spinning, extra := range map[int]int{0: 0, 1: 1, 1 << 20: runtime.NumCPU()} {
		undo := Processors(spinning, time.Microsecond)
		if n := runtime.GOMAXPROCS(0); n != before+extra {
			t.Errorf("%d that spin: %d processors, %d before", spinning, n, before)
		}
		undo()
		if n := runtime.GOMAXPROCS(0); n != before {
			t.Errorf("%d processors are left, %d before", n, before)
		}
	}
	undo := Processors(1, time.Millisecond)
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d processors for a waiter that sleeps, %d before", n, before)
	}
	undo()
	t.Setenv("GOMAXPROCS", "1")
	defer Processors(1, time.Microsecond)()
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d processors although the environment says how many", n)
	}
}
