package cputime

import (
	"testing"
	"time"
)

// What a process works, it has used; what it sleeps, it has not.
func TestSelf(t *testing.T) {
	before, known := Self()
	if !known || before < 0 {
		t.Fatalf("%v, known: %v", before, known)
	}
	const work = 100 * time.Millisecond // more than the coarsest tick, of 16 ms
	end := time.Now().Add(time.Minute)
	for time.Now().Before(end) {
		if used, _ := Self(); used-before >= work {
			break
		}
	}
	worked, _ := Self()
	if worked-before < work {
		t.Errorf("a minute of work is %v", worked-before)
	}
	time.Sleep(work)
	if slept, _ := Self(); slept < worked || slept-worked >= work {
		t.Errorf("a sleep of %v is %v", work, slept-worked)
	}
}
