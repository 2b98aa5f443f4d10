package gate

import (
	"errors"
	"strings"
	"testing"
)

func TestParseSLO(t *testing.T) {
	for text, want := range map[string]string{
		"p99<150ms":                   "p99<150ms",
		"lost==0":                     "lost==0",
		"p99.9@10000<400ms":           "p99.9@10000<400ms",
		" p99.90 @ 1e4 <= 1.5s ":      "p99.9@10000<=1.5s",
		"publish.p99<20ms":            "publish.p99<20ms",
		"end-to-end-from-send.max<1s": "end_to_end_from_send.max<1s",
		"send_lag.p99.9<1ms":          "send_lag.p99.9<1ms",
		"send-lag.mean<150us":         "send_lag.mean<150us",
		"received_per_s>=9900":        "received_per_s>=9900",
		"received_per_s>=99%":         "received_per_s>=99%",
		"overrun<=0.1%":               "overrun<=0.1%",
		"out-of-order==0":             "out_of_order==0",
		"cov<5%":                      "cov<0.05",
		"duplicates!=3":               "duplicates!=3",
		"failed<0.0000001%":           "failed<0.0000001%",
		"p50>0s":                      "p50>0s",
	} {
		s, err := ParseSLO(text)
		if err != nil || s.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, s, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                       "has no comparison",
		"p99":                    "has no comparison",
		"p99<150":                "no duration",
		"p99<":                   "no duration",
		"p100<1s":                "not between 0 and 100",
		"p<1s":                   "nothing is measured that is called",
		"p9.9.9<1s":              "not a number",
		"p99<-150ms":             "is negative",
		"min>-1ms":               "is negative",
		"lost==0.5":              "no whole number",
		"lost==-1":               "no number",
		"lost==1e3":              "no number",
		"lots==0":                "nothing is measured",
		"p99@0<1s":               "no rate",
		"p99@fast<1s":            "no rate",
		"p99@-1<1s":              "no rate",
		"publish.lost==0":        "write lost alone",
		"pubish.p99<1s":          "no latency is called",
		"p99<<1s":                "no duration",
		"received_per_s>=NaN":    "no number",
		"p99=10ms":               "has no comparison",
		"max<2562047h47m16.854s": "finer than can be told",
	} {
		if s, err := ParseSLO(text); !errors.Is(err, ErrSLO) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %q, error %v; want %q", text, s, err, want)
		}
	}
}

func TestParseRegression(t *testing.T) {
	for text, want := range map[string]string{
		"p99=10%": "p99=10%", " publish.p99.9@5e3 = 2.5 % ": "publish.p99.9@5000=2.5%", "p50=0%": "p50=0%", "p99=0.1%": "p99=0.1%",
	} {
		if r, err := ParseRegression(text); err != nil || r.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, r, err, want)
		}
	}
	for _, text := range []string{"", "p99", "p99=10", "p99=-1%", "p99=%", "lost=10%", "max=10%", "p99@x=10%", "p100=1%", "p99=1e99%", "p99==10%"} {
		if r, err := ParseRegression(text); !errors.Is(err, ErrSLO) {
			t.Errorf("%q: %q, %v", text, r, err)
		}
	}
}

// What is read and written again is the same, and nothing makes it panic.
func FuzzParseSLO(f *testing.F) {
	for _, text := range []string{"p99<150ms", "p99.9@10000<=400ms", "publish.p99 < 20ms", "received_per_s>=99%", "lost==0", "overrun<=0.1%", "cov<5%", "min>-1ms", "@<", "p99@1<1ns", "p99=10%", "send-lag.p50@2.5=0.01%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseSLO(text); err == nil {
			again, err := ParseSLO(s.String())
			if err != nil || again != s {
				t.Fatalf("%q is %+v, written %q, and read again %+v, %v", text, s, s, again, err)
			}
		} else if !errors.Is(err, ErrSLO) {
			t.Fatalf("%q: %v", text, err)
		}
		if r, err := ParseRegression(text); err == nil {
			again, err := ParseRegression(r.String())
			if err != nil || again != r {
				t.Fatalf("%q is %+v, written %q, and read again %+v, %v", text, r, r, again, err)
			}
		} else if !errors.Is(err, ErrSLO) {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
