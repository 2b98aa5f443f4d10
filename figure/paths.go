package figure

import (
	"math"
	"strconv"
	"strings"
)

// shortPaths rounds the coordinates of paths to a tenth of a pixel, which is
// finer than any screen shows: vgsvg writes five digits, and a report of ten
// steps is mostly paths.
func shortPaths(s string) string {
	const open = `<path d="`
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.Index(s, open)
		if i < 0 {
			break
		}
		i += len(open)
		j := strings.IndexByte(s[i:], '"')
		if j < 0 {
			break
		}
		b.WriteString(s[:i])
		shorten(&b, s[i:i+j])
		s = s[i+j:]
	}
	b.WriteString(s)
	return b.String()
}

// shorten rounds each number of a path's data, and where it is made of straight
// lines only, writes each point as its distance from the one before.
func shorten(b *strings.Builder, d string) {
	if points, ok := straightPath(d); ok {
		relative(b, points)
		return
	}
	for len(d) > 0 {
		n := numberLength(d)
		if n == 0 {
			b.WriteByte(d[0])
			d = d[1:]
			continue
		}
		if v, err := strconv.ParseFloat(d[:n], 64); err == nil {
			b.WriteString(tenths(int64(math.Round(v * 10))))
		} else {
			b.WriteString(d[:n])
		}
		d = d[n:]
	}
}

func numberLength(d string) (n int) {
	for n < len(d) && (d[n] >= '0' && d[n] <= '9' || d[n] == '.' || d[n] == '-' || d[n] == 'e' || d[n] == '+') {
		n++
	}
	return n
}

// tenths writes a number of tenths: "12.3", "-.5", "0".
func tenths(v int64) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	whole, frac := v/10, v%10
	switch {
	case frac == 0:
		return sign + strconv.FormatInt(whole, 10)
	case whole == 0:
		return sign + "." + strconv.FormatInt(frac, 10)
	}
	return sign + strconv.FormatInt(whole, 10) + "." + strconv.FormatInt(frac, 10)
}

// pathPoint is a command of a path and its point in tenths of a pixel.
type pathPoint struct {
	command byte // M, L or Z
	x, y    int64
}

// straightPath reads a path of M, L and Z; false for any other.
func straightPath(d string) (points []pathPoint, ok bool) {
	for len(d) > 0 {
		p := pathPoint{command: d[0]}
		d = d[1:]
		switch p.command {
		case 'Z':
		case 'M', 'L':
			if n := len(points); p.command == 'L' && n > 0 && points[n-1].command == 'Z' {
				return nil, false // it begins where the figure before was closed
			}
			for i, v := range []*int64{&p.x, &p.y} {
				n := numberLength(d)
				f, err := strconv.ParseFloat(d[:n], 64)
				if err != nil || math.Abs(f) > 1e9 {
					return nil, false
				}
				*v = int64(math.Round(f * 10))
				if d = d[n:]; i == 0 {
					if d == "" || d[0] != ',' {
						return nil, false
					}
					d = d[1:]
				}
			}
		default:
			return nil, false
		}
		points = append(points, p)
	}
	return points, len(points) > 0 && points[0].command == 'M'
}

// relative writes points by their distances, which are exact: they are those of
// the rounded points.
func relative(b *strings.Builder, points []pathPoint) {
	var x, y int64
	last := byte(0)
	for _, p := range points {
		switch p.command {
		case 'Z':
			b.WriteByte('Z')
		case 'M':
			b.WriteString("M" + tenths(p.x) + "," + tenths(p.y))
			x, y = p.x, p.y
		case 'L':
			dx, dy := tenths(p.x-x), tenths(p.y-y)
			switch {
			case last != 'L':
				b.WriteByte('l')
			case dx[0] != '-':
				b.WriteByte(' ')
			}
			b.WriteString(dx)
			if dy[0] != '-' {
				b.WriteByte(',')
			}
			b.WriteString(dy)
			x, y = p.x, p.y
		}
		last = p.command
	}
}
