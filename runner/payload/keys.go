package payload

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// MaxKeys bounds the number of different keys.
const MaxKeys = 1_000_000_000

// Keys says which keys messages have. The zero value is none.
type Keys struct {
	N            int64 // different keys; 0 for none
	Distribution KeyDistribution
	// S is the exponent of zipf: key k, from 1, is drawn in proportion to
	// k^−S.
	S float64
}

// KeyDistribution says how often each key comes.
type KeyDistribution int

// The distributions of keys.
const (
	RoundRobinKeys KeyDistribution = iota // one after the other
	UniformKeys                           // each as likely
	ZipfKeys                              // few keys have most of the messages
)

// ParseKeys reads a number of keys and a distribution: round-robin, uniform, or
// zipf:S with an exponent such as 0.99. No number, 0, goes with "none".
func ParseKeys(n int64, distribution string) (Keys, error) {
	k := Keys{N: n}
	name, exponent, has := strings.Cut(strings.TrimSpace(distribution), ":")
	switch {
	case name == "none" && !has:
		if n != 0 {
			return k, fmt.Errorf("%d keys and the distribution none: say round-robin, uniform or zipf:0.99, or leave the number out", n)
		}
		return Keys{}, nil
	case name == "round-robin" && !has:
		k.Distribution = RoundRobinKeys
	case name == "uniform" && !has:
		k.Distribution = UniformKeys
	case name == "zipf":
		var err error
		k.Distribution = ZipfKeys
		if k.S, err = strconv.ParseFloat(exponent, 64); err != nil {
			return k, fmt.Errorf("key distribution %q: write its exponent, such as zipf:0.99", distribution)
		}
	default:
		return k, fmt.Errorf("key distribution %q: say none, round-robin, uniform or zipf:0.99", distribution)
	}
	if n == 0 {
		return k, fmt.Errorf("the distribution %s needs a number of keys", distribution)
	}
	return k, k.check()
}

func (k *Keys) check() error {
	switch {
	case k.N < 0 || k.N > MaxKeys:
		return fmt.Errorf("%d keys are not between 1 and %d", k.N, int64(MaxKeys))
	case k.Distribution == ZipfKeys && !(k.S > 0 && k.S <= 10):
		return fmt.Errorf("the exponent %v of zipf is not between 0 and 10", k.S)
	}
	return nil
}

// chooser draws keys: numbers from 0 to N−1.
type chooser struct {
	keys Keys
	seed uint64
	zipf zipf
}

func (k Keys) chooser(seed uint64) *chooser {
	c := &chooser{keys: k, seed: seed}
	if k.Distribution == ZipfKeys {
		c.zipf = newZipf(k.N, k.S)
	}
	return c
}

// choose is the key of message index of the step.
func (c *chooser) choose(index int64) int64 {
	switch c.keys.Distribution {
	case UniformKeys:
		hi, _ := bits.Mul64(mix(c.seed+uint64(index)*golden), uint64(c.keys.N))
		return int64(hi)
	case ZipfKeys:
		return c.zipf.draw(mix(c.seed+uint64(index)*golden)) - 1
	}
	return index % c.keys.N
}

// zipf draws from 1 to n in proportion to k^−s by rejection from the integral
// of x^−s, which needs no table: Hörmann and Derflinger, "Rejection-inversion
// to generate variates from monotone discrete distributions", ACM TOMACS 6(3),
// 1996. More than nine of ten draws need one word.
type zipf struct {
	n, s             float64
	first, last, cut float64
}

func newZipf(n int64, s float64) zipf {
	z := zipf{n: float64(n), s: s}
	z.first = z.integral(1.5) - 1
	z.last = z.integral(z.n + 0.5)
	z.cut = 2 - z.inverse(z.integral(2.5)-math.Pow(2, -s))
	return z
}

// draw uses a word and, where it is rejected, those that follow it.
func (z *zipf) draw(word uint64) int64 {
	for {
		u := z.last + (float64(word>>11)+0.5)/(1<<53)*(z.first-z.last)
		x := z.inverse(u)
		k := min(z.n, max(1, math.Floor(x+0.5)))
		if k-x <= z.cut || u >= z.integral(k+0.5)-math.Pow(k, -z.s) {
			return int64(k)
		}
		word = mix(word)
	}
}

// integral is that of x^−s, (x^(1−s)−1)/(1−s), and the logarithm at s = 1.
func (z *zipf) integral(x float64) float64 {
	l := math.Log(x)
	if t := (1 - z.s) * l; math.Abs(t) > 1e-8 {
		return math.Expm1(t) / (1 - z.s)
	}
	return l
}

// inverse is that of integral.
func (z *zipf) inverse(y float64) float64 {
	if t := max(-1, (1-z.s)*y); math.Abs(t) > 1e-8 {
		return math.Exp(math.Log1p(t) / (1 - z.s))
	}
	return math.Exp(y)
}

const golden = 0x9E3779B97F4A7C15 // the step of SplitMix64's counter
