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
