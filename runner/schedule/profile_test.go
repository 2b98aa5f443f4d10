package schedule

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

// integral is what a profile has made due by t ns, in arbitrary precision and
// from its definition: the area below the rate.
func integral(p Profile, t int64) *big.Rat {
	sum := new(big.Rat)
	for i, q := range p {
		end, b := t, q.Rate
		if i+1 < len(p) {
			if p[i+1].Ramp {
				b = p[i+1].Rate
			}
			end = min(end, int64(p[i+1].At))
		}
		span := end - int64(q.At)
		if span <= 0 {
			continue
		}
		area := big.NewRat(int64(q.Rate), period) // messages per ns at the beginning
		if b != q.Rate {
			slope := big.NewRat(int64(b-q.Rate), 2*period)
			slope.Mul(slope, big.NewRat(span, int64(p[i+1].At-q.At)))
			area.Add(area, slope)
		}
		sum.Add(sum, area.Mul(area, big.NewRat(span, 1)))
	}
	return sum
}

func position(n int64, f uint64) *big.Rat {
	x := new(big.Rat).SetFrac(new(big.Int).SetUint64(f), new(big.Int).Lsh(big.NewInt(1), 64))
	return x.Add(x, new(big.Rat).SetInt64(n))
}

// randomProfile has steps, ramps up and down, pauses, and rates and times of
// all sizes.
func randomProfile(r *rand.Rand) Profile {
	rate := func() Rate {
		if r.IntN(4) == 0 {
			return 0
		}
		return 1 + Rate(r.Int64N(int64(1)<<(1+r.IntN(39))))
	}
	for {
		p := Profile{{Rate: rate()}}
		at := time.Duration(0)
		for range r.IntN(6) {
			at += 1 + time.Duration(r.Int64N(1<<(1+r.IntN(45))))
			ramp := r.IntN(2) == 0
			p = append(p, Point{At: at, Rate: rate(), Ramp: ramp})
			if ramp && r.IntN(3) == 0 {
				p = append(p, Point{At: at, Rate: rate()})
			}
		}
		if p.check() == nil {
			return p
		}
	}
}

func TestCurveIsTheAreaBelowTheRate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1500 {
		p := randomProfile(r)
		c := newCurve(p)
		at := r.Int64N(2*int64(p.End()) + 1e9)
		whole, parts := c.count(at)
		got := new(big.Rat).SetFrac(big.NewInt(int64(parts)), big.NewInt(unit))
		got.Add(got, new(big.Rat).SetInt64(whole))
		want := integral(p, at)
		if off := new(big.Rat).Sub(want, got); off.Sign() < 0 || off.Cmp(big.NewRat(1, unit)) >= 0 {
			t.Fatalf("%s: %s due by %d ns, want %s", p, got.FloatString(15), at, want.FloatString(15))
		}
	}
}

func TestAtIsTheFirstNanosecondAtWhichThePositionIsDue(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	checked := 0
	for range 800 {
		p := randomProfile(r)
		c := newCurve(p)
		whole, _ := c.count(2*int64(p.End()) + 1e9)
		near := 0
		for range 10 {
			n, f := r.Int64N(whole+1), r.Uint64()
			if r.IntN(3) == 0 {
				f = 0
			}
			if r.IntN(3) == 0 { // the corners of the profile
				n, _ = c.count(int64(p[r.IntN(len(p))].At))
				n += int64(r.IntN(2))
			}
			got := c.at(n, f, &near)
			if got > 2*int64(p.End())+1e9 {
				continue
			}
			checked++
			x := position(n, f)
			if integral(p, got).Cmp(x) < 0 {
				t.Fatalf("%s: position %s is early, at %d", p, x.FloatString(20), got)
			}
			// One nanosecond before, it was not due, or it was due to the dot
			// and the rate has been 0 since.
			if before := integral(p, got-1); got > 0 && before.Cmp(x) >= 0 && (before.Cmp(x) > 0 || p.RateAt(time.Duration(got-1)) != 0) {
				t.Fatalf("%s: position %s is due at %d, and was at %d", p, x.FloatString(20), got, got-1)
			}
		}
	}
	if checked < 4000 {
		t.Errorf("only %d positions were checked", checked)
	}
}

func TestAtAscendsByTheSmallestFractions(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		p := randomProfile(r)
		c := newCurve(p)
		whole, _ := c.count(2*int64(p.End()) + 1e9)
		n, f := r.Int64N(whole+1), r.Uint64()
		near, last := 0, int64(-1)
		for range 50 {
			at := c.at(n, f, &near)
			if at < last {
				t.Fatalf("%s: position %d + %d/2⁶⁴ is due at %d after %d", p, n, f, at, last)
			}
			last = at
			if f += uint64(1) << r.IntN(60); f < 1<<60 {
				n++
			}
		}
	}
}

func TestMean(t *testing.T) {
	for _, c := range []struct {
		profile string
		d       time.Duration
		want    Rate
	}{
		{"0s:1000", time.Second, 1_000_000},
		{"0s:1000,60s:5000", 120 * time.Second, 3_000_000},
		{"0s:1000,60s~5000", 60 * time.Second, 3_000_000},
		{"0s:1000,60s~5000", 120 * time.Second, 4_000_000},
		{"0s:0,10s~100,10s:0", 20 * time.Second, 25_000},
		{"0s:1,1s:2", 3 * time.Second, 1667}, // 5/3, to the nearest thousandth
	} {
		p, err := ParseProfile(c.profile)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Mean(c.d); got != c.want {
			t.Errorf("%s over %v: mean %s, want %s", c.profile, c.d, got, c.want)
		}
	}
}

func TestParseProfile(t *testing.T) {
	for text, want := range map[string]string{
		"0s:1000,60s:5000":        "0s:1000,1m0s:5000",
		" 0:1_000 , 1.5 ~ 0.5 ":   "0s:1000,1.5s~0.5",
		"0s:0,10s~5000,10s:0":     "0s:0,10s~5000,10s:0",
		"0s:5,1m:0,61s:5,90s~0.0": "0s:5,1m0s:0,1m1s:5,1m30s~0",
	} {
		if p, err := ParseProfile(text); err != nil || p.String() != want {
			t.Errorf("%q is %q, %v, want %q", text, p, err, want)
		}
	}
	for _, text := range []string{
		"", "1000", "0s", "0s:", ":1000", "0s:ten", "0s:-1", "soon:5", "1s:1000", "0s~1000", "0s:0", "0s:0,5s:0", "0s:5,5s:6,5s:7",
		"0s:5,5s:6,5s~7", "0s:5,5s:6,4s:7", "0s:5,,6s:7", "0s:0,5s~0,6s:1", "0s:5,-1s:6", "0s:1,1000h:2", "0s:5,5s~6,5s:7,5s:8",
	} {
		if p, err := ParseProfile(text); err == nil {
			t.Errorf("%q is %q", text, p)
		}
	}
}

func FuzzParseProfile(f *testing.F) {
	for _, s := range []string{"0s:1000,60s:5000", "0:1,1~2,1:0", "0s:.5,1h~1000000000", "0s:0,1e3:1", "~", "0s:1,1ns~2", "0:1,+5:2", "0:1,0x10:2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseProfile(s)
		if err != nil {
			return
		}
		again, err := ParseProfile(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q is written %q, read back as %q, %v", s, p, again, err)
		}
		c := newCurve(p)
		near := 0
		if whole, _ := c.count(int64(p.End()) + 1); whole >= 0 {
			if at := c.at(whole, 0, &near); at < 0 {
				t.Errorf("%q: message %d is due at %d", s, whole, at)
			}
		}
	})
}
