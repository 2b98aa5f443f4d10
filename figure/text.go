package figure

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"queuebench/analysis"
)

// PercentileName is "p99.9" for 99.9.
func PercentileName(p float64) string { return "p" + Number(p) }

// Number writes a number with no needless digit.
func Number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Duration writes a duration in its largest unit with no needless digit:
// "200 ms", "1.5 s".
func Duration(d time.Duration) string {
	if d == 0 {
		return "0 s"
	}
	ns := float64(d)
	u := unitOf(max(ns, -ns))
	return Number(float64(d)/u.ns) + " " + u.name
}

// KindPath says from where to where a latency is.
func KindPath(k analysis.Kind) string {
	switch k {
	case analysis.EndToEnd:
		return "intended to received"
	case analysis.EndToEndFromSend:
		return "sent to received"
	case analysis.Publish:
		return "intended to acknowledged"
	case analysis.SendLag:
		return "intended to sent"
	case analysis.ToBroker:
		return "intended to the input's stamp"
	case analysis.ThroughPipeline:
		return "the input's stamp to the output's"
	case analysis.BrokerToConsumer:
		return "broker's stamp to received"
	case analysis.Poll:
		return "call to return"
	case analysis.Imported:
		return "as the other tool measured it"
	}
	return "unknown"
}

// pathOf is KindPath under a load: of a closed loop what was intended is what was
// sent.
func pathOf(k analysis.Kind, l analysis.Load) string {
	if l.Closed {
		return strings.Replace(KindPath(k), "intended to", "sent to", 1)
	}
	return KindPath(k)
}

// atLoad ends a title: " at 10,000 msg/s", or what stands in the place of a rate.
func atLoad(l analysis.Load, rate float64) string {
	if l.Name != "" {
		return ", " + printable(l.Name)
	}
	return " at " + rateText(rate) + " msg/s"
}

// dueAxis names the time at which messages are drawn.
func dueAxis(l analysis.Load) string {
	switch {
	case l.Closed:
		return "beginning of the operation, since the start of the step"
	case l.Filled:
		return "time when it was handed over, since the start of the step"
	}
	return "intended time since the start of the step"
}

func kindName(k analysis.Kind) string {
	if k == analysis.SendLag {
		return k.Title()
	}
	return k.Title() + " latency"
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// list joins names as English does: a, b and c.
func list(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func names(percentiles []float64) []string {
	out := make([]string, len(percentiles))
	for i, p := range percentiles {
		out[i] = PercentileName(p)
	}
	return out
}

// drawn chooses which percentiles a crowded figure draws, at most n: the usual
// ones among those that were asked for, then from both ends. The others are
// named in the caption.
func drawn(percentiles []float64, n int, usual []float64) (chosen []int, left []float64) {
	take := make([]bool, len(percentiles))
	count := 0
	add := func(i int) {
		if i >= 0 && i < len(take) && !take[i] && count < n {
			take[i] = true
			count++
		}
	}
	if len(percentiles) <= n {
		for i := range percentiles {
			add(i)
		}
	} else {
		for _, u := range usual {
			for i, p := range percentiles {
				if p == u {
					add(i)
				}
			}
		}
		if count < 2 {
			add(0)
			add(len(percentiles) - 1)
			add(len(percentiles) / 2)
		}
	}
	for i, t := range take {
		if t {
			chosen = append(chosen, i)
		} else {
			left = append(left, percentiles[i])
		}
	}
	return chosen, left
}

// printable leaves out what is no text, since names and messages of a run are
// shown as they are.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, ""))
}
