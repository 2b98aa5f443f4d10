// Package texts is what Go says on the page: titles, labels, captions of tables,
// sentences. A translation of the page is one of this room and of
// site/assets/texts.js, which has what the page's scripts say.
//
// Constants are words; a sentence with numbers or names in it is a function, so
// that a language may order and bend it as it has to. Names of runs, of loads and
// of other things that were measured come in as they are, numbers and durations as
// they are shown. Nothing here is escaped, and nothing may be markup but for what
// stands in inline.go: package markup writes it.
//
// It refuses to compute, and to say what others say: findings are sentences of
// package analysis, captions of figures those of package figure, remarks on a
// comparison those of analysis/compare; the command line says them too.
package texts

import (
	"strconv"
	"strings"
)

// Language is what the page is written in, as HTML names it.
const Language = "en"

// Layouts of points in time, as package time takes them, all in UTC.
const (
	Date      = "2 January 2006, 15:04 UTC"
	DateShort = "2006-01-02 15:04 UTC"
	DateExact = "2006-01-02 15:04:05.000 UTC"
)

// Brand names the page, and what its titles begin with.
const Brand = "Queuebench"

// Title is that of the window: of a run, of a comparison.
func Title(of string) string { return Brand + ": " + of }

// Of several pages.
const (
	Messages = "messages"
	Latency  = "latency"
	WarmUp   = "warm-up"
	Repeat   = "repeat"
	Settings = "settings"
	Max      = "max"
	Min      = "min"
	Mean     = "mean"
	None     = "none"
	Received = "received"
	PerS     = "received/s"
	CoV      = "CoV"
	CoVMeans = "coefficient of variation: standard deviation over mean"
	// Beyond stands for a latency whose rank falls on a message that never came.
	Beyond = "> deadline"
)

// MsgPerS is a rate that messages are sent at.
func MsgPerS(rate string) string { return rate + " msg/s" }

// At heads what is of one load.
func At(load string) string { return "At " + load }

// Processors of a machine.
func Processors(n int) string { return plural(n, "processor", "processors") }

// Host is a machine with its processors; it may have no name.
func Host(name string, processors int) string {
	if name == "" {
		return Processors(processors)
	}
	return name + ", " + Processors(processors)
}

// CommitsEvery is a kind of queue with its commit interval.
func CommitsEvery(queue, interval string) string { return queue + ", commits every " + interval }

// And joins names.
func And(names []string) string {
	switch n := len(names); n {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

// Bytes is an amount of memory; empty where it is not known.
func Bytes(n int64) string {
	const mebi, gibi = 1 << 20, 1 << 30
	switch {
	case n <= 0:
		return ""
	case n >= gibi:
		return strconv.FormatFloat(float64(n)/gibi, 'f', 1, 64) + " GiB"
	}
	return strconv.FormatFloat(float64(n)/mebi, 'f', 1, 64) + " MiB"
}

// Sentence begins a text with a capital and ends it with a full stop.
func Sentence(text string) string {
	if text == "" {
		return ""
	}
	return UpperFirst(text) + "."
}

// UpperFirst begins a text with a capital.
func UpperFirst(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// lowerFirst undoes it.
func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
