package schedule

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func profile(t testing.TB, text string) Profile {
	t.Helper()
	p, err := ParseProfile(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func made(t testing.TB, s Spec) Schedule {
	t.Helper()
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// times are all arrivals of a schedule.
func times(s Schedule) []int64 {
	all := make([]int64, s.Len())
	o := s.Offsets()
	for i := range all {
		all[i] = o.At(int64(i))
	}
	return all
}

var testProfiles = []string{"0s:2000", "0s:1000,1s:5000", "0s:100,1s~5000,2s:0,2500ms:3000", "0s:0,2s~4000,2s:1"}

// Each kind of arrivals over each profile keeps what a schedule promises.
func TestEachScheduleKeepsThePromisesOfASchedule(t *testing.T) {
	for _, kind := range Kinds() {
		for _, text := range testProfiles {
			if kind == PathwayBurstArrivals && strings.Contains(text, ",") {
				continue
			}
			for _, messages := range []int64{0, 1, 1234} {
				name := fmt.Sprintf("%s/%s/%d", kind, text, messages)
				s := made(t, Spec{Kind: kind, Profile: profile(t, text), Duration: 4 * time.Second, Messages: messages, Burst: 70, Seed: 3})
				all := times(s)
				if s.Name() != string(kind) || messages > 0 && s.Len() != messages {
					t.Errorf("%s: name %s, %d messages", name, s.Name(), s.Len())
				}
				if len(all) == 0 || !slices.IsSorted(all) || all[0] < 0 || all[len(all)-1] >= int64(s.Duration()) {
					t.Errorf("%s: the times fall, or lie outside the step", name)
				}
				// The same again, in any order.
				again := made(t, Spec{Kind: kind, Profile: profile(t, text), Duration: 4 * time.Second, Messages: messages, Burst: 70, Seed: 3})
				o := again.Offsets()
				for _, i := range rand.New(rand.NewPCG(7, 8)).Perm(len(all)) {
					if got := o.At(int64(i)); got != all[i] {
						t.Fatalf("%s: message %d is due at %d, and when asked ascending at %d", name, i, got, all[i])
					}
				}
				share := NewShare(s, 1, 3)
				for _, offset := range []int64{-1, 0, 1e6, int64(time.Second), int64(2 * time.Second), int64(s.Duration())} {
					want := int64(0)
					for i := 1; i < len(all); i += 3 {
						if all[i] <= offset {
							want++
						}
					}
					if got := share.Due(0, offset); got != want {
						t.Errorf("%s: %d messages are due at %d, want %d", name, got, offset, want)
					}
				}
			}
		}
	}
}

// However a step ends, it has the messages of the longer one that are due in it.
func TestAShorterStepIsTheBeginningOfALongerOne(t *testing.T) {
	for _, kind := range Kinds() {
		if kind == PathwayBurstArrivals {
			continue
		}
		spec := Spec{Kind: kind, Profile: profile(t, "0s:3000,1s~1000"), Duration: 5 * time.Second, Burst: 10, Seed: 5}
		whole := times(made(t, spec))
		for _, d := range []time.Duration{1001 * time.Millisecond, 2 * time.Second, 3*time.Second + 7} {
			spec.Duration = d
			part := times(made(t, spec))
			want := 0
			for want < len(whole) && whole[want] < int64(d) {
				want++
			}
			if kind == BurstArrivals { // the last burst is cut short, to keep the mean rate
				spec.Kind = ConstantArrivals
				want = int(made(t, spec).Len())
				spec.Kind = kind
			}
			if !slices.Equal(part, whole[:want]) {
				t.Errorf("%s for %v: %d messages, want the first %d of the longer step", kind, d, len(part), want)
			}
		}
	}
}

func TestMessagesEndTheStep(t *testing.T) {
	for _, kind := range Kinds() {
		s := made(t, Spec{Kind: kind, Profile: Steady(1_000_000), Messages: 5000, Burst: 100, Seed: 9})
		if s.Len() != 5000 {
			t.Errorf("%s: %d messages", kind, s.Len())
		}
		want, off := 5*time.Second, time.Duration(0)
		if kind == PoissonArrivals {
			off = 300 * time.Millisecond // 4 standard deviations
		}
		if got := s.Duration(); got < want-off || got > want+off {
			t.Errorf("%s: 5,000 messages at 1,000/s take %v", kind, got)
		}
	}
	// What comes first ends it.
	if s := made(t, Spec{Profile: Steady(1_000_000), Messages: 5000, Duration: time.Second}); s.Len() != 1000 || s.Duration() != time.Second {
		t.Errorf("%d messages in %v", s.Len(), s.Duration())
	}
	if s := made(t, Spec{Profile: profile(t, "0s:1000,1s:0,3s:1000"), Messages: 1500}); s.Len() != 1500 || s.Duration() != 3500*time.Millisecond {
		t.Errorf("%d messages in %v", s.Len(), s.Duration())
	}
}

func TestConstantOverASteadyProfileIsConstant(t *testing.T) {
	c := NewConstant(1_234_567, 3*time.Second)
	a := made(t, Spec{Profile: Profile{{Rate: 1_234_567}, {At: time.Second, Rate: 1_234_567}}, Duration: 3 * time.Second})
	if !slices.Equal(times(c), times(a)) {
		t.Error("a profile that stays at one rate is not that rate")
	}
}

func TestBurstsKeepTheMeanRate(t *testing.T) {
	s := made(t, Spec{Kind: BurstArrivals, Profile: Steady(1_000_000), Duration: 2*time.Second + 50*time.Millisecond, Burst: 100})
	if s.Len() != 2050 {
		t.Errorf("%d messages at 1,000/s in 2.05 s", s.Len())
	}
	for i, at := range times(s) {
		if want := int64(i/100) * int64(100*time.Millisecond); at != want {
			t.Fatalf("message %d is due at %d, want %d", i, at, want)
		}
	}
	one := made(t, Spec{Kind: BurstArrivals, Profile: Steady(14_485_000), Messages: 14_485})
	if all := times(one); len(all) != 14_485 || all[0] != 0 || all[len(all)-1] != 0 || one.Duration() != time.Second {
		t.Errorf("one burst: %d messages until %d in %v", len(all), all[len(all)-1], one.Duration())
	}
}

func TestPathwayBurst(t *testing.T) {
	s := made(t, Spec{Kind: PathwayBurstArrivals, Profile: Steady(25_000_000), Duration: 2 * time.Second})
	if s.(Grouped).Group() != 100 {
		t.Errorf("groups of %d", s.(Grouped).Group())
	}
	for i, at := range times(s) {
		if want := int64(i/10_000) * int64(400*time.Millisecond); at != want {
			t.Fatalf("message %d is due at %d, want %d", i, at, want)
		}
	}
}

func TestJitterStaysInItsPlaceAndIsUniform(t *testing.T) {
	const n = 200_000
	s := made(t, Spec{Kind: JitterArrivals, Profile: Steady(1_000_000), Messages: n, Seed: 1})
	u := make([]float64, n)
	for i, at := range times(s) {
		u[i] = float64(at)/1e6 - float64(i)
		if u[i] < 0 || u[i] > 1 {
			t.Fatalf("message %d is due at %d", i, at)
		}
	}
	uniformity(t, "jitter", u)
	for lag := 1; lag < 4; lag++ {
		uncorrelated(t, "jitter", u, lag)
	}
}

func TestNewRefuses(t *testing.T) {
	steady := Steady(1_000_000)
	for name, s := range map[string]Spec{
		"no end":              {Profile: steady},
		"no rate":             {Duration: time.Second},
		"unknown kind":        {Kind: "pareto", Profile: steady, Duration: time.Second},
		"negative duration":   {Profile: steady, Duration: -1},
		"negative messages":   {Profile: steady, Messages: -1},
		"negative burst":      {Profile: steady, Duration: time.Second, Burst: -1},
		"31 days":             {Profile: steady, Duration: 31 * 24 * time.Hour},
		"points beyond":       {Profile: profile(t, "0s:1,5s:2"), Duration: 5 * time.Second},
		"pathway and profile": {Kind: PathwayBurstArrivals, Profile: profile(t, "0s:1,5s:2"), Duration: 9 * time.Second},
		"never so many":       {Profile: profile(t, "0s:1000,5s:0"), Messages: 5001},
		"not so many in time": {Profile: Steady(1), Messages: 1 << 40},
		"too many to draw":    {Kind: PoissonArrivals, Profile: Steady(MaxRate), Duration: time.Hour},
		"too many messages":   {Kind: PoissonArrivals, Profile: Steady(MaxRate), Messages: 1 << 40},
		"none":                {Profile: profile(t, "0s:0,1s:1"), Duration: time.Second},
		"poisson of none":     {Kind: PoissonArrivals, Profile: Steady(1), Duration: time.Nanosecond},
	} {
		if got, err := New(s); err == nil {
			t.Errorf("%s: %d messages", name, got.Len())
		}
	}
}

func BenchmarkAt(b *testing.B) {
	ramp := profile(b, "0s:5000,1800s~15000,1800s:10000,2400s~20000")
	for _, kind := range Kinds() {
		for _, p := range []Profile{Steady(10_000_000), ramp} {
			if kind == PathwayBurstArrivals && len(p) > 1 {
				continue
			}
			name := string(kind)
			if len(p) > 1 {
				name += "-ramps"
			}
			b.Run(name, func(b *testing.B) {
				s := NewShare(made(b, Spec{Kind: kind, Profile: p, Duration: time.Hour, Burst: 100, Seed: 1}), 0, 1)
				b.ReportAllocs()
				b.ResetTimer()
				var sum int64
				i := int64(0)
				for b.Loop() {
					sum += s.At(i)
					if i++; i == s.Len() {
						i = 0
					}
				}
				_ = sum
			})
		}
	}
}

// BenchmarkNewPoisson tells what it takes to count the messages beforehand.
func BenchmarkNewPoisson(b *testing.B) {
	var n int64
	for b.Loop() {
		n += made(b, Spec{Kind: PoissonArrivals, Profile: Steady(100_000_000), Duration: 100 * time.Second, Seed: 1}).Len()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/message")
}

// uniformity is the Kolmogorov–Smirnov test against the uniform distribution on
// [0,1), at 0.1 %.
func uniformity(t *testing.T, what string, values []float64) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(values))
	n := float64(len(sorted))
	worst := 0.0
	for i, u := range sorted {
		worst = max(worst, float64(i+1)/n-u, u-float64(i)/n)
	}
	if limit := 1.95 / math.Sqrt(n); worst > limit {
		t.Errorf("%s: the distribution is off by %.5f, more than %.5f for %d values", what, worst, limit, len(sorted))
	}
}

// uncorrelated checks a lag of the autocorrelation, at 4 standard deviations.
func uncorrelated(t *testing.T, what string, values []float64, lag int) {
	t.Helper()
	n := float64(len(values))
	var mean float64
	for _, v := range values {
		mean += v / n
	}
	var cov, variance float64
	for i, v := range values {
		variance += (v - mean) * (v - mean)
		if i >= lag {
			cov += (v - mean) * (values[i-lag] - mean)
		}
	}
	if r := cov / variance; math.Abs(r) > 4/math.Sqrt(n) {
		t.Errorf("%s: correlation %.4f at lag %d", what, r, lag)
	}
}
