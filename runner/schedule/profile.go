package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Profile is a rate over time: points in ascending order, the first at 0. The
// rate of the last one holds for as long as the step lasts.
type Profile []Point

// Point is where a profile turns.
type Point struct {
	At   time.Duration // since the step's start
	Rate Rate          // from here on; 0 is a pause
	// Ramp says that the rate has come here in a straight line from the point
	// before. Without it the rate of the point before held until here.
	Ramp bool
}

// maxPoints and maxSpan bound a profile; a histogram holds 30 days.
const (
	maxPoints = 10_000
	maxSpan   = 30 * 24 * time.Hour
)

// Steady is the profile of a rate that never changes.
func Steady(r Rate) Profile { return Profile{{Rate: r}} }

// ParseProfile reads points with commas between them:
//
//	0s:1000,60s:5000     1,000 per second, and from 60 s on 5,000
//	0s:1000,60s~5000     from 1,000 to 5,000 in a straight line over 60 s
//	0s:0,10s~5000,10s:0  a ramp, and then a pause
//
// A time is a duration or a number of seconds, and the times ascend; a step may
// follow a ramp at the same time. A rate is as ParseRate reads it, or 0.
func ParseProfile(text string) (Profile, error) {
	var p Profile
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		at := strings.IndexAny(item, ":~")
		if at < 0 {
			return nil, fmt.Errorf("%q is no point of a rate profile: write TIME:RATE for a step, such as 60s:5000, or TIME~RATE for the end of a ramp, such as 60s~5000", item)
		}
		t, err := parseTime(item[:at])
		if err != nil {
			return nil, fmt.Errorf("point %q: %w", item, err)
		}
		r, err := parseRateOrZero(item[at+1:])
		if err != nil {
			return nil, fmt.Errorf("point %q: %w", item, err)
		}
		p = append(p, Point{At: t, Rate: r, Ramp: item[at] == '~'})
	}
	return p, p.check()
}

func parseTime(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no time: write 60s, 5m, or a number of seconds", text)
	}
	return d, nil
}

func parseRateOrZero(text string) (Rate, error) {
	if f, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && f == 0 {
		return 0, nil
	}
	return ParseRate(text)
}

func (p Profile) check() error {
	switch {
	case len(p) == 0:
		return errors.New("a rate profile has no point: write 0s:1000,60s:5000")
	case len(p) > maxPoints:
		return fmt.Errorf("a rate profile has %d points, more than %d", len(p), maxPoints)
	case p[0].At != 0:
		return fmt.Errorf("a rate profile begins at %v: its first point is at 0s", p[0].At)
	case p[0].Ramp:
		return errors.New("a rate profile begins with a ramp: its first point is a rate, such as 0s:1000")
	}
	var most Rate
	for i, q := range p {
		if q.Rate < 0 || q.Rate > MaxRate {
			return fmt.Errorf("a rate profile has rate %s, which is not between 0 and %s", q.Rate, MaxRate)
		}
		most = max(most, q.Rate)
		if i == 0 {
			continue
		}
		before := p[i-1]
		switch c := cmp.Compare(q.At, before.At); {
		case q.At > maxSpan:
			return fmt.Errorf("a rate profile has a point at %v, beyond %v", q.At, maxSpan)
		case c < 0, c == 0 && (q.Ramp || !before.Ramp):
			return fmt.Errorf("a rate profile has a point at %v after one at %v: the times ascend", q.At, before.At)
		case q.Ramp && q.Rate == 0 && before.Rate == 0:
			return fmt.Errorf("a rate profile has a ramp from 0 to 0 at %v: write a pause as a step, such as %v:0", q.At, before.At)
		}
	}
	if most == 0 {
		return errors.New("a rate profile has no rate above 0")
	}
	return nil
}

// String is the text that ParseProfile reads back.
func (p Profile) String() string {
	var b strings.Builder
	for i, q := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(q.At.String())
		if q.Ramp {
			b.WriteByte('~')
		} else {
			b.WriteByte(':')
		}
		b.WriteString(q.Rate.String())
	}
	return b.String()
}

// End is the time of the last point.
func (p Profile) End() time.Duration { return p[len(p)-1].At }

// Mean is the mean rate over the first d of the profile, to the nearest
// thousandth of a message per second.
func (p Profile) Mean(d time.Duration) Rate {
	if len(p) == 1 {
		return p[0].Rate
	}
	c := newCurve(p)
	return c.mean(int64(d))
}

// RateAt is the rate at an offset from the step's start, messages per second.
func (p Profile) RateAt(offset time.Duration) float64 {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].At > offset {
			continue
		}
		r := p[i].Rate.PerSecond()
		if i+1 < len(p) && p[i+1].Ramp {
			share := float64(offset-p[i].At) / float64(p[i+1].At-p[i].At)
			r += share * (p[i+1].Rate.PerSecond() - r)
		}
		return r
	}
	return p[0].Rate.PerSecond()
}
