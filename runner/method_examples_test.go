package runner

import (
	"fmt"
	"testing"
	"time"

	"queuebench/internal/golden"
	"queuebench/runner/schedule"
)

// What docs/method.md says of the schedule and of open messages comes out so.
func TestMethodExamples(t *testing.T) {
	all := golden.Examples(t, "../docs/method.md")
	due := func(in string) string {
		var rate, message int64
		if _, err := fmt.Sscanf(in, "%d msg/s, message %d", &rate, &message); err != nil {
			t.Fatal(err)
		}
		r, err := schedule.ParseRate(fmt.Sprint(rate))
		if err != nil {
			t.Fatal(err)
		}
		s, err := schedule.New(schedule.Spec{Profile: schedule.Steady(r), Duration: 2 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return "due at " + time.Duration(s.Offsets().At(message)).String()
	}
	grows := func(in string) string {
		var rate, seconds, slope float64
		if _, err := fmt.Sscanf(in, "%f msg/s, %f s, open messages rise by %f per second", &rate, &seconds, &slope); err != nil {
			t.Fatal(err)
		}
		open, own := &trace{width: int64(trendPeriod)}, &trace{width: int64(trendPeriod)}
		end := time.Duration(seconds * float64(time.Second))
		for at := time.Duration(0); at < end; at += trendPeriod {
			open.add(int64(at), 60+slope*at.Seconds()+float64(at/trendPeriod%10)) // commits make a saw-tooth
		}
		if trendOf(open, own, end, 100*time.Millisecond, rate).Growing {
			return "growing"
		}
		return "not growing"
	}
	for name, run := range map[string]func(string) string{"schedule": due, "open messages": grows} {
		if len(all[name]) == 0 {
			t.Errorf("the document has no example %s", name)
		}
		for _, x := range all[name] {
			if got := run(x[0]); got != x[1] {
				t.Errorf("%s: %s gives %s, the document says %s", name, x[0], got, x[1])
			}
		}
	}
}
