//go:build unix

package faults

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// levels are resident megabytes, once a second.
type levels []int

func (l levels) String() string {
	if len(l) == 0 {
		return "not known"
	}
	if len(l) < 20 {
		return fmt.Sprintf("%d MB at most", slices.Max(l))
	}
	var tenths []string
	for i := range 10 {
		tenths = append(tenths, fmt.Sprint(slices.Max(l[len(l)*i/10:len(l)*(i+1)/10])))
	}
	return strings.Join(tenths, ", ") + " MB at most in each tenth"
}

// growth holds the second half to the first, and says what grew; empty for nothing.
func (l levels) growth() string {
	half := len(l) / 2
	if half <= 10 {
		return fmt.Sprintf("only %d levels of memory were read", len(l))
	}
	if before, after := slices.Max(l[:half]), slices.Max(l[half:]); after > before+before/4+32 {
		return fmt.Sprintf("memory grows: at most %d MB in the first half, %d in the second", before, after)
	}
	return ""
}

// A leak of a quarter of a megabyte per second is found in ten minutes, and what a
// garbage collector does is none.
func TestWhatIsFlat(t *testing.T) {
	for name, c := range map[string]struct {
		level func(i int) int
		flat  bool
	}{
		"flat":       {func(int) int { return 60 }, true},
		"sawtooth":   {func(i int) int { return 50 + i%17 }, true},
		"warming":    {func(i int) int { return min(20+i, 90) }, true},
		"a leak":     {func(i int) int { return 60 + i/4 }, false},
		"a late one": {func(i int) int { return 60 + max(0, i-400)/2 }, false},
	} {
		var l levels
		for i := range 600 {
			l = append(l, c.level(i))
		}
		if grew := l.growth(); (grew == "") != c.flat {
			t.Errorf("%s: %q", name, grew)
		}
	}
}

// residentMB is a process's resident memory.
func residentMB(pid int) (mb int, ok bool) {
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(string(body), "VmRSS:")
	if !ok {
		return 0, false
	}
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	return kb / 1024, err == nil
}

// watchMemory reads a process's resident memory until the function is called.
func watchMemory(pid int) (stop func() levels) {
	var all levels
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			if mb, ok := residentMB(pid); ok {
				all = append(all, mb)
			}
		}
	}()
	return func() levels { close(quit); <-done; return all }
}
