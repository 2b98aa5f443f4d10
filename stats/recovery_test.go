package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

const second = int64(1e9)

// series makes seconds: '.' is good, 's' slow, 'm' some messages missing, '0'
// nothing received, 'i' ends in an infinite p99, 'b' a burst that catches up.
func series(text string) []Second {
	var all []Second
	for i, c := range text {
		s := Second{Start: int64(i) * second, End: int64(i+1) * second, Scheduled: 1000, Received: 1000, P99: 10e6}
		switch c {
		case 's':
			s.P99 = 20e6 + 1
		case 'm':
			s.Received = 949
		case '0':
			s.Received, s.P99 = 0, math.NaN()
		case 'i':
			s.P99 = math.Inf(1)
		case 'b':
			s.Received, s.P99 = 5000, 5e9
		}
		all = append(all, s)
	}
	return all
}

func TestRecovery(t *testing.T) {
	for _, c := range []struct {
		name, seconds string
		fault         float64 // s
		found         bool
		after         float64 // s
	}{
		{"a store stops for 5 s", ".....00000bs.......", 5, true, 7},
		{"the fault strikes within a second", ".....00000b........", 5.5, true, 5.5},
		{"the fault does not show", "...............", 5.5, true, 0},
		{"its second is good, the next is not", ".....0.........", 4.9, true, 1.1},
		{"four good ones are not enough", ".....0....0.....", 5, true, 6},
		{"the limits are inclusive", ".....0.....", 5, true, 1},
		{"some are missing for long", ".....mmmmmm.....", 5, true, 6},
		{"an infinite p99 is not good", ".....i.....", 5, true, 1},
		{"never again", ".....ssssssss", 5, false, 8},
		{"four good ones at the end leave it open", ".....ss....", 5, false, 2},
		{"nothing was seen after it", ".....", 5, false, 0},
		{"a level from three seconds", "...0.....", 3, true, 1},
		{"seconds without messages show no level", ".0.0.0.....", 5, true, 1},
	} {
		r := Recovery(series(c.seconds), int64(c.fault*1e9), int64(c.fault*1e9))
		if r.Level != 10e6 || r.Found != c.found || r.After != int64(math.Round(c.after*1e9)) {
			t.Errorf("%s: %+v, want %v after %v s", c.name, r, c.found, c.after)
		}
	}
	for _, text := range []string{"", "..", "..0.....", "00000...."} {
		if r := Recovery(series(text), 2*second, 2*second); !math.IsNaN(r.Level) || r.Found {
			t.Errorf("%q: %+v from fewer than three seconds before", text, r)
		}
	}
	// A second fault is held against the level before the first.
	if r := Recovery(series("....ssssss.....ss....."), 4*second, 15*second); r.Level != 10e6 || !r.Found || r.After != 2*second {
		t.Errorf("second fault: %+v", r)
	}
	edge := series(".....0.....")
	for i := 6; i < 11; i++ {
		edge[i].Received, edge[i].P99 = 950, 20e6
	}
	if r := Recovery(edge, 5*second, 5*second); !r.Found || r.After != second {
		t.Errorf("exactly 95 %% and twice the level: %+v", r)
	}
	// Where twice the level is less than the floor, the floor is the limit.
	for p99, after := range map[float64]int64{RecoveryFloor: second, RecoveryFloor + 1: 6 * second} {
		quick := series(".....0..........")
		for i := range quick {
			if quick[i].P99 = 50e3; i > 5 && i < 11 {
				quick[i].P99 = p99
			}
		}
		quick[5].P99 = math.NaN()
		if r := Recovery(quick, 5*second, 5*second); r.Level != 50e3 || !r.Found || r.After != after {
			t.Errorf("a p99 of %v ns over a level of 50 µs: %+v", p99, r)
		}
	}
}

// naiveRecovery tries each start by the definition.
func naiveRecovery(seconds []Second, fault int64) (found bool, after int64) {
	level := 10e6
	for i := range seconds {
		if seconds[i].End <= fault || i+RecoverySeconds > len(seconds) {
			continue
		}
		all := true
		for _, s := range seconds[i : i+RecoverySeconds] {
			if s.Received == 0 || s.Received*100 < s.Scheduled*95 || !(s.P99 <= 2*level) {
				all = false
			}
		}
		if all {
			return true, max(0, seconds[i].Start-fault)
		}
	}
	return false, 0
}

func TestRecoveryIsItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	found := 0
	for range 3000 {
		text := []byte(".....")
		for range r.IntN(25) {
			text = append(text, "......smi0b"[r.IntN(11)])
		}
		fault := 5*second + r.Int64N(3*second)
		seconds := series(string(text))
		got := Recovery(seconds, 5*second, fault)
		want, after := naiveRecovery(seconds, fault)
		if got.Found != want || want && got.After != after {
			t.Fatalf("%s, fault at %d: %+v, want %v after %d", text, fault, got, want, after)
		}
		if want {
			found++
		} else if len(seconds) > 0 && got.After > max(0, seconds[len(seconds)-1].End-fault) {
			t.Fatalf("%s: the earliest recovery lies beyond what was seen: %+v", text, got)
		}
	}
	if found < 500 || found > 2900 {
		t.Errorf("%d of 3000 recovered: the cases are one-sided", found)
	}
}
