package schedule

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Rate is a number of messages in 1,000 seconds, so that 0.001 per second is
// the smallest rate and every rate is exact.
type Rate int64

// MaxRate is a billion messages per second: one per nanosecond, the clock's
// resolution.
const MaxRate Rate = 1e12

// PerSecond is the rate in messages per second.
func (r Rate) PerSecond() float64 { return float64(r) / 1000 }

// String is the shortest decimal that ParseRate reads back.
func (r Rate) String() string {
	s := strconv.FormatInt(int64(r)/1000, 10)
	if frac := r % 1000; frac != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%03d", frac), "0")
	}
	return s
}

// ParseRate reads messages per second: a positive decimal with at most three
// digits after the point, such as 10000, 10_000 or 0.5.
func ParseRate(text string) (Rate, error) {
	if strings.TrimSpace(text) == "" {
		return 0, errors.New("a rate is empty: give messages per second, such as 10000 or 0.5")
	}
	whole, frac, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(text), "_", ""), ".")
	if whole == "" && frac != "" {
		whole = "0"
	}
	if len(frac) > 3 {
		return 0, fmt.Errorf("rate %q has more than three digits after the point", text)
	}
	n, err := strconv.ParseInt(whole+frac+"000"[len(frac):], 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		n, err = int64(MaxRate)+1, nil
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("rate %q is no number of messages per second, such as 10000 or 0.5", text)
	case n <= 0:
		return 0, fmt.Errorf("rate %s is not positive: give messages per second, such as 10000 or 0.5", text)
	case Rate(n) > MaxRate:
		return 0, fmt.Errorf("rate %s is above %s messages per second, the resolution of the clock", text, MaxRate)
	}
	return Rate(n), nil
}
