package analysis

import (
	"fmt"
	"strings"
	"time"
)

// ParseWarmup reads a warm-up: a duration with its unit, 0s for none, auto (or
// nothing) for the default rule, which is nil.
func ParseWarmup(text string) (*time.Duration, error) {
	if text == "" || text == "auto" {
		return nil, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("warm-up %q is not a duration: write for instance 30s, 1m30s or 0s; steady for where the latency has settled; or a time such as 2026-01-31T12:00:00Z", text)
	}
	if d < 0 {
		return nil, fmt.Errorf("warm-up %s is negative: write 0s to cut nothing", text)
	}
	return &d, nil
}

// steadyText stands for a warm-up that the data decide.
const steadyText = "steady"

// SetWarmup reads a warm-up as ParseWarmup does, or steady, or a time in RFC
// 3339, before which everything is cut.
func (v *View) SetWarmup(text string) (err error) {
	v.Warmup, v.Steady, v.WarmupUntil = nil, false, 0
	if text == steadyText {
		v.Steady = true
		return nil
	}
	if at, bad := time.Parse(time.RFC3339Nano, text); bad == nil {
		if v.WarmupUntil = at.UnixNano(); v.WarmupUntil <= 0 {
			return fmt.Errorf("warm-up until %s: no run is as old as that", text)
		}
		return nil
	}
	v.Warmup, err = ParseWarmup(text)
	return err
}

// WarmupText is what SetWarmup reads; empty for the default rule.
func (v View) WarmupText() string {
	switch {
	case v.Steady:
		return steadyText
	case v.WarmupUntil != 0:
		return time.Unix(0, v.WarmupUntil).UTC().Format(time.RFC3339Nano)
	case v.Warmup != nil:
		return durationText(*v.Warmup)
	}
	return ""
}

// durationText is a duration as flags and addresses have it.
func durationText(d time.Duration) string { return strings.ReplaceAll(d.String(), "µ", "u") }

// ParseCooldown reads a cool-down: a duration with its unit, or nothing for
// none.
func ParseCooldown(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("cool-down %q is not a duration: write for instance 5s or 0s", text)
	}
	if d < 0 {
		return 0, fmt.Errorf("cool-down %s is negative: write 0s to cut nothing", text)
	}
	return d, nil
}

// ParseInterval reads the least length of a point of a series, or nothing for
// the digest's own.
func ParseInterval(text string) (time.Duration, error) {
	if text == "" || text == "auto" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("interval %q is not a duration from 0s on: write for instance 1s", text)
	}
	return d, nil
}

// The default rule for the warm-up.
const (
	longStep      = 2 * time.Minute
	longWarmup    = 30 * time.Second
	shortFraction = 10
)

// DefaultWarmup is what is cut from a step when no warm-up is named: 30 s for
// steps of two minutes and more, a tenth of the step below that.
func DefaultWarmup(step time.Duration) time.Duration {
	if step >= longStep {
		return longWarmup
	}
	return step / shortFraction
}

// warmupOf is what v asks to cut from s, and by which rule. Where no warm-up is
// named and the default one would leave nothing of a step, since all its
// messages were due in it (one burst at its beginning), there is none.
func (v View) warmupOf(s *StepDigest) (time.Duration, string) {
	switch {
	case v.Steady:
		st := s.steadyState(s.Duration - v.Cooldown)
		if !st.Found {
			cut, rule := View{}.warmupOf(s)
			return cut, "no steady state was found; " + rule
		}
		return st.From, "where the latency had settled"
	case v.WarmupUntil != 0:
		at := time.Unix(0, v.WarmupUntil).UTC().Format(time.RFC3339Nano)
		return time.Duration(max(0, v.WarmupUntil-s.StartNs)), "as asked, until " + at
	case v.Warmup != nil:
		return *v.Warmup, "as asked"
	}
	if own, why, has := s.ownWarmup(); has {
		return own, why
	}
	cut, rule := DefaultWarmup(s.Duration), "default: a tenth of the step"
	if s.Duration >= longStep {
		rule = "default: 30 s of a step of two minutes or more"
	}
	var inside, beyond int64
	for i := range s.Intervals {
		if s.Intervals[i].Start < cut {
			inside += s.Intervals[i].Scheduled
		} else {
			beyond += s.Intervals[i].Scheduled
		}
	}
	if inside > 0 && beyond == 0 && s.Complete {
		return 0, fmt.Sprintf("default: all messages were due within %s", formatDuration(cut))
	}
	return cut, rule
}
