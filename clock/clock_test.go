package clock

import (
	"testing"
	"time"
)

func TestNowNeverGoesBackAndFollowsTheWallClock(t *testing.T) {
	c := New()
	last := c.Now()
	for range 10000 {
		now := c.Now()
		if now < last {
			t.Fatalf("clock went back from %d to %d", last, now)
		}
		last = now
	}
	if d := time.Duration(time.Now().UnixNano() - c.Now()); d < -time.Second || d > time.Second {
		t.Errorf("clock is %v from the wall clock", d)
	}
	if c.Identity().AnchorNs == 0 || c.Identity().Host == "" {
		t.Errorf("identity is incomplete: %+v", c.Identity())
	}
}

// Two clocks of one boot with anchors of their own are put on one axis, although
// the wall clock was set between the two anchors.
func TestBetweenTwoClocksOfOneBoot(t *testing.T) {
	a, b := New(), Skewed(3*time.Hour, "")
	add, errorNs, exact, ok := Between(a.Identity(), b.Identity())
	if !ok || !exact {
		t.Fatalf("exact %v, ok %v", exact, ok)
	}
	if errorNs <= 0 || errorNs > int64(time.Millisecond) {
		t.Errorf("the error is %d ns", errorNs)
	}
	for range 1000 {
		before := a.Now()
		other := b.Now() + add
		after := a.Now()
		if other < before-errorNs || other > after+errorNs {
			t.Fatalf("%d is not between %d and %d, give or take %d", other, before, after, errorNs)
		}
	}
	if add, errorNs, exact, ok := Between(a.Identity(), a.Identity()); add != 0 || errorNs != 0 || !exact || !ok {
		t.Errorf("of one clock: %d, %d, %v, %v", add, errorNs, exact, ok)
	}
}

func TestClocksThatAreNotOfOneBoot(t *testing.T) {
	a := Identity{Host: "a", BootID: "1", AnchorNs: 100, MonotonicNs: 10, TimeNS: "time:[1]"}
	for name, c := range map[string]struct {
		change    func(*Identity)
		exact, ok bool
	}{
		"another boot":           {func(b *Identity) { b.BootID = "2" }, false, false},
		"another host":           {func(b *Identity) { b.Host = "b" }, false, false},
		"no monotonic clock":     {func(b *Identity) { b.MonotonicNs = 0 }, false, true},
		"another time namespace": {func(b *Identity) { b.TimeNS = "time:[2]" }, false, true},
		"a later anchor":         {func(b *Identity) { b.AnchorNs, b.MonotonicNs = 200, 110 }, true, true},
	} {
		b := a
		c.change(&b)
		if add, _, exact, ok := Between(a, b); add != 0 || exact != c.exact || ok != c.ok {
			t.Errorf("%s: add %d, exact %v, ok %v", name, add, exact, ok)
		}
	}
}
