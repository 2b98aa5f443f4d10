package analysis

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFragment(t *testing.T) {
	three := 3 * sec
	v := View{Warmup: &three, Percentiles: []float64{50, 99, 99.9}, Kind: Publish, LogScale: true}
	const want = "warmup=3s&percentiles=50,99,99.9&latency=publish&scale=log"
	if got := v.Fragment(); got != want {
		t.Errorf("Fragment: %s, want %s", got, want)
	}
	if got := (View{}).Fragment(); got != "" {
		t.Errorf("the fragment of the default view is %q", got)
	}
	got, err := ParseFragment("#log=http://x/y?a=b&scale=log&latency=publish&percentiles=99,50,99.9,50&warmup=3s")
	if err != nil || !reflect.DeepEqual(got, v) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFragmentRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		v := View{Kind: Kind(r.IntN(int(NumKinds))), LogScale: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			w := time.Duration(r.Int64N(1 << r.IntN(62)))
			v.Warmup = &w
		} else if r.IntN(3) == 0 {
			v.Steady = true
		} else if r.IntN(3) == 0 {
			v.WarmupUntil = 1 + r.Int64N(1<<62)
		}
		if r.IntN(2) == 0 {
			v.Cooldown, v.Interval = time.Duration(r.Int64N(1e12)), time.Duration(r.Int64N(1e10))
		}
		if r.IntN(2) == 0 {
			v.From = time.Duration(r.Int64N(1e12))
		}
		if r.IntN(2) == 0 {
			v.To = v.From + 1 + time.Duration(r.Int64N(1<<r.IntN(50)))
		}
		if r.IntN(2) == 0 {
			lines := []string{"50", "99.9"}
			for _, part := range LineParts {
				if r.IntN(2) == 0 {
					lines = append(lines, part)
				}
			}
			v.Lines = lines
		}
		for range r.IntN(8) {
			p := math.Round(r.Float64()*math.Pow10(r.IntN(7)+2)) / math.Pow10(r.IntN(7))
			if p > 0 && p < 100 && !slices.Contains(v.Percentiles, p) {
				v.Percentiles = append(v.Percentiles, p)
			}
		}
		slices.Sort(v.Percentiles)
		got, err := ParseFragment(v.Fragment())
		if err != nil || !reflect.DeepEqual(got, v) {
			t.Fatalf("%s comes back as %+v, %v; want %+v", v.Fragment(), got, err, v)
		}
	}
}

func TestFragmentRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"warmup=3":                     "30s",
		"warmup=-1s":                   "negative",
		"percentiles=0":                "between 0 and 100",
		"percentiles=100":              "between 0 and 100",
		"percentiles=NaN":              "between 0 and 100",
		"percentiles=50,":              "not a number",
		"percentiles=99.99999999999":   "decimals",
		"latency=peak":                 "end_to_end",
		"scale=sqrt":                   "linear and log",
		"warmpu=3s":                    "warmpu",
		"warmup=1s&warmup=2s":          "2 times",
		"warmup=%zz":                   "fragment",
		"lines=50,average":             "density",
		"from=-1s":                     "before the start",
		"to=5":                         "for instance 5s",
		"from=5s&to=5s":                "end after it begins",
		"from=7s&to=5s":                "empty",
		"percentiles=" + many(51, ","): "at most 50",
	} {
		if _, err := ParseFragment(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func many(n int, sep string) string {
	var s []string
	for i := range n {
		s = append(s, FormatPercent(float64(i+1)))
	}
	return strings.Join(s, sep)
}

func FuzzParseFragment(f *testing.F) {
	f.Add("warmup=3s&percentiles=50,99,99.9&latency=publish&scale=log")
	f.Add("from=5s&to=1m5s&lines=max,99,50,band")
	f.Add("#from=0s&to=2562047h47m16.854775807s&warmup=steady")
	f.Add("#percentiles=1e-5,0x1p3&warmup=1h2m3.004005006s")
	f.Add("cooldown=2s&interval=1s&warmup=0s")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseFragment(text)
		if err != nil {
			return
		}
		again, err := ParseFragment(v.Fragment())
		if err != nil || !reflect.DeepEqual(again, v) {
			t.Fatalf("%q is %+v, its fragment %q is %+v, %v", text, v, v.Fragment(), again, err)
		}
	})
}

func TestDefaultWarmup(t *testing.T) {
	for step, want := range map[time.Duration]time.Duration{
		10 * sec: sec, 20 * sec: 2 * sec, 119 * sec: 11900 * ms, 120 * sec: 30 * sec, time.Hour: 30 * sec,
	} {
		if got, rule := (View{}).warmupOf(&StepDigest{Duration: step}); got != want || DefaultWarmup(step) != want || !strings.HasPrefix(rule, "default") {
			t.Errorf("%s: %s (%s), want %s", step, got, rule, want)
		}
	}
}

// A step that is one burst at its beginning is not cut away by a rule that
// nobody asked for.
func TestTheDefaultWarmupLeavesASingleBurst(t *testing.T) {
	burst := make([]msg, 1000)
	for i := range burst {
		at := time.Duration(i) * ms / 2
		burst[i] = msg{acked: at, received: at + ms}
	}
	late := append(slices.Clone(burst), msg{intended: 9 * sec, sent: 9 * sec, acked: 9 * sec, received: 9 * sec})
	none := time.Duration(0)
	for _, c := range []struct {
		name string
		msgs []msg
		view View
		used int64
	}{
		{"one burst", burst, View{}, 1000},
		{"one burst, a cut as asked", burst, View{Warmup: func() *time.Duration { d := sec; return &d }()}, 0},
		{"one burst, no cut as asked", burst, View{Warmup: &none}, 1000},
		{"a burst and something later", late, View{}, 1},
	} {
		d := synthDigest(synthStep(t, 0, 100, 10*sec, 100*ms, c.msgs))
		sum := Summarize(d, c.view)
		if got := sum.Steps[0].Accounting.RecordsUsed; got != c.used {
			t.Errorf("%s: %d messages used, want %d (%s)", c.name, got, c.used, sum.Steps[0].WarmupRule)
		}
		if w := SeriesOf(&d.Steps[0], c.view).Warmup; (w == 0) != (c.used == 1000) {
			t.Errorf("%s: the figure's cut is at %s", c.name, w)
		}
	}
}
