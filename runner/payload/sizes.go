package payload

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"queuebench/runner/envelope"
)

// Sizes is a distribution of message sizes, in bytes, identity included. The
// zero value is none.
type Sizes struct {
	kind     sizeKind
	min, max int
	// Of a lognormal distribution: the mean and the 99th percentile as they
	// were given, the normal distribution of the logarithm, and the part of its
	// distribution function that lies between min and max.
	mean, p99 int
	mu, sigma float64
	from, to  float64
	list      [maxWeighted]weighted
	n         int
}

type sizeKind int

const (
	noSizes sizeKind = iota
	fixedSizes
	uniformSizes
	lognormalSizes
	weightedSizes
)

// weighted is a size and the 10⁶ths of the messages that have it.
type weighted struct{ bytes, share int }

const (
	maxWeighted = 16
	// defaultLargest is where a lognormal distribution ends that is not told
	// where: what many queues take as a message by default.
	defaultLargest = 1_000_000
	millionths     = 1_000_000
)

// FixedSize is one size for all.
func FixedSize(bytes int) Sizes { return Sizes{kind: fixedSizes, min: bytes, max: bytes} }

// ParseSizes reads a size or a distribution of sizes:
//
//	100                            all messages
//	uniform:64..1024               each size from 64 to 1,024 as often
//	lognormal:mean=1000,p99=8000   few are large; max=… ends it, 1,000,000 if not given
//	100:90%,10000:10%              these sizes, so often
//
// A lognormal distribution is drawn within 16 and max, and is refused when more
// than a hundredth of it lies outside, since mean and p99 would then be others.
func ParseSizes(text string) (Sizes, error) {
	s, err := parseSizes(strings.TrimSpace(text))
	if err != nil {
		return Sizes{}, fmt.Errorf("message size %q: %w", text, err)
	}
	return s, s.check()
}

func parseSizes(text string) (Sizes, error) {
	name, rest, distribution := strings.Cut(text, ":")
	switch {
	case !distribution:
		n, err := bytesOf(text)
		return FixedSize(n), err
	case name == "uniform":
		lo, hi, ok := strings.Cut(rest, "..")
		if !ok {
			return Sizes{}, fmt.Errorf("write the smallest and the largest size, such as uniform:64..1024")
		}
		a, err := bytesOf(lo)
		if err != nil {
			return Sizes{}, err
		}
		b, err := bytesOf(hi)
		return Sizes{kind: uniformSizes, min: a, max: b}, err
	case name == "lognormal":
		return parseLognormal(rest)
	case strings.Contains(text, "%"):
		return parseWeighted(text)
	}
	return Sizes{}, fmt.Errorf("write 100, uniform:64..1024, lognormal:mean=1000,p99=8000 or 100:90%%,10000:10%%")
}

func bytesOf(text string) (int, error) {
	n, err := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(text), "_", ""))
	if err != nil {
		return 0, fmt.Errorf("%q is no number of bytes", text)
	}
	return n, nil
}

func parseLognormal(text string) (Sizes, error) {
	s := Sizes{kind: lognormalSizes, min: envelope.Size, max: defaultLargest}
	for item := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(item, "=")
		n, err := bytesOf(value)
		if err != nil {
			return s, err
		}
		switch strings.TrimSpace(name) {
		case "mean":
			s.mean = n
		case "p99":
			s.p99 = n
		case "max":
			s.max = n
		default:
			return s, fmt.Errorf("%q is no part of a lognormal distribution: it has mean, p99 and max", name)
		}
	}
	if s.mean < envelope.Size || s.p99 < s.mean || s.max < s.p99 {
		return s, fmt.Errorf("a lognormal distribution has a mean of at least %d, a p99 that is not below the mean, and a max that is not below the p99", envelope.Size)
	}
	// mean = exp(mu + sigma²/2) and p99 = exp(mu + z·sigma), z = 2.326: the
	// smaller solution for sigma, since the other has more than a half of its
	// messages below a thousandth of the mean.
	z := quantile(0.99)
	ratio := math.Log(float64(s.p99) / float64(s.mean))
	root := z*z - 2*ratio
	if root < 0 {
		return s, fmt.Errorf("no lognormal distribution has a p99 of more than %.1f times its mean", math.Exp(z*z/2))
	}
	s.sigma = z - math.Sqrt(root)
	s.mu = math.Log(float64(s.mean)) - s.sigma*s.sigma/2
	s.from, s.to = s.below(float64(s.min)-0.5), s.below(float64(s.max)+0.5)
	if outside := 1 - (s.to - s.from); outside > 0.01 {
		return s, fmt.Errorf("%.1f %% of this distribution lie below %d bytes or above max %d: raise mean or max, or lower p99", 100*outside, s.min, s.max)
	}
	return s, nil
}

// below is the share of the untruncated lognormal distribution below x.
func (s *Sizes) below(x float64) float64 {
	if s.sigma == 0 {
		if math.Log(x) < s.mu {
			return 0
		}
		return 1
	}
	return 0.5 * math.Erfc((s.mu-math.Log(x))/(s.sigma*math.Sqrt2))
}

// quantile is that of the standard normal distribution.
func quantile(q float64) float64 { return math.Sqrt2 * math.Erfinv(2*q-1) }

func parseWeighted(text string) (Sizes, error) {
	s := Sizes{kind: weightedSizes, min: math.MaxInt}
	total := 0
	for item := range strings.SplitSeq(text, ",") {
		size, share, _ := strings.Cut(strings.TrimSpace(item), ":")
		n, err := bytesOf(size)
		if err != nil {
			return s, err
		}
		percent, found := strings.CutSuffix(share, "%")
		p, err := strconv.ParseFloat(percent, 64)
		if err != nil || !found || !(p > 0 && p <= 100) || s.n == maxWeighted {
			return s, fmt.Errorf("%q: write up to %d sizes with their shares, such as 100:90%%,10000:10%%", item, maxWeighted)
		}
		w := weighted{n, int(math.Round(p / 100 * millionths))}
		if math.Abs(float64(w.share)-p/100*millionths) > 1e-6 || w.share == 0 {
			return s, fmt.Errorf("%q: a share has at most four digits after the point", item)
		}
		s.list[s.n] = w
		s.n++
		total += w.share
		s.min, s.max = min(s.min, n), max(s.max, n)
	}
	if total != millionths {
		return s, fmt.Errorf("the shares add up to %v%%, not to 100%%", float64(total)*100/millionths)
	}
	return s, nil
}

func (s *Sizes) check() error {
	switch {
	case s.kind == noSizes:
		return fmt.Errorf("no message size is given")
	case s.max < s.min:
		return fmt.Errorf("message sizes from %d to %d: the smallest is above the largest", s.min, s.max)
	case s.max > MaxSize:
		return fmt.Errorf("a message of %d bytes is larger than %d", s.max, MaxSize)
	}
	return envelope.CheckSize(s.min)
}

// Min is the smallest size.
func (s *Sizes) Min() int { return s.min }

// Max is the largest size.
func (s *Sizes) Max() int { return s.max }

// fixed is the size that all have, or 0.
func (s *Sizes) fixed() int {
	if s.kind == fixedSizes {
		return s.min
	}
	return 0
}

// size is the size that a random word stands for.
func (s *Sizes) size(u uint64) int {
	switch s.kind {
	case uniformSizes:
		hi, _ := bits.Mul64(u, uint64(s.max-s.min+1))
		return s.min + int(hi)
	case lognormalSizes:
		q := s.from + (float64(u>>11)+0.5)/(1<<53)*(s.to-s.from)
		x := math.Exp(s.mu + s.sigma*quantile(q))
		return min(s.max, max(s.min, int(math.Round(min(x, MaxSize))))) // the ends only round
	case weightedSizes:
		hi, _ := bits.Mul64(u, millionths)
		for _, w := range s.list[:s.n-1] {
			if hi < uint64(w.share) {
				return w.bytes
			}
			hi -= uint64(w.share)
		}
		return s.list[s.n-1].bytes
	}
	return s.min
}

// String is the text that ParseSizes reads back.
func (s Sizes) String() string {
	switch s.kind {
	case uniformSizes:
		return fmt.Sprintf("uniform:%d..%d", s.min, s.max)
	case lognormalSizes:
		text := fmt.Sprintf("lognormal:mean=%d,p99=%d", s.mean, s.p99)
		if s.max != defaultLargest {
			text += fmt.Sprintf(",max=%d", s.max)
		}
		return text
	case weightedSizes:
		var parts []string
		for _, w := range s.list[:s.n] {
			parts = append(parts, fmt.Sprintf("%d:%s%%", w.bytes, strconv.FormatFloat(float64(w.share)*100/millionths, 'f', -1, 64)))
		}
		return strings.Join(parts, ",")
	}
	return strconv.Itoa(s.min)
}
