package importer

import "strings"

// The lines of Kafka's tests and of wrk are told by hand: package regexp, with the
// tables of Unicode that it brings, was a twentieth of the program that the page
// loads. The expressions that each function stands for are in its test.

// decimal is the number at the beginning of a text, as Java prints it in any
// locale, 310.00 or 310,00, or one of the given points alone, and what follows.
func decimal(text, points string) (number, rest string, ok bool) {
	digits := func(from int) int {
		for from < len(text) && text[from] >= '0' && text[from] <= '9' {
			from++
		}
		return from
	}
	end := digits(0)
	if end == 0 {
		return "", text, false
	}
	if end < len(text) && strings.IndexByte(points, text[end]) >= 0 {
		if more := digits(end + 1); more > end+1 {
			end = more
		}
	}
	return text[:end], text[end:], true
}

// lastDigits is where the digits begin that a text ends with.
func lastDigits(text string) int {
	at := len(text)
	for at > 0 && text[at-1] >= '0' && text[at-1] <= '9' {
		at--
	}
	return at
}

// lastDecimal is the number that a text ends with.
func lastDecimal(text string) (string, bool) {
	at := lastDigits(text)
	if at == len(text) {
		return "", false
	}
	if at > 0 && (text[at-1] == '.' || text[at-1] == ',') {
		if whole := lastDigits(text[:at-1]); whole < at-1 {
			at = whole
		}
	}
	return text[at:], true
}

// kafkaLine is a line of Kafka's producer test: all of what matched, its records,
// whether they are of the steady state, records per second, mean and maximal
// latency in ms, and what follows; nil for another line.
func kafkaLine(text string) []string {
	const sent = " records sent, "
	for at := 0; ; {
		i := strings.Index(text[at:], sent)
		if i < 0 {
			return nil
		}
		before, after := text[:at+i], text[at+i+len(sent):]
		at += i + len(sent)
		steady := ""
		if head, ok := strings.CutSuffix(before, " steady state"); ok {
			before, steady = head, " steady state"
		}
		from := lastDigits(before)
		if from == len(before) {
			continue
		}
		if m := kafkaRates(after); m != nil {
			return append([]string{text[from:], before[from:], steady}, m...)
		}
	}
}

// kafkaRates is what follows the number of records of a line.
func kafkaRates(text string) []string {
	rate, rest, ok := decimal(text, ".,")
	if rest, ok = cut(rest, " records/sec (", ok); !ok {
		return nil
	}
	for {
		if _, rest, ok = strings.Cut(rest, "), "); !ok {
			return nil
		}
		mean, more, ok := decimal(rest, ".,")
		if more, ok = cut(more, " ms avg latency, ", ok); !ok {
			continue
		}
		highest, more, ok := decimal(more, ".,")
		more, ok = cut(more, " ", ok)
		if more, ok = cut(strings.TrimPrefix(more, "ms "), "max latency", ok); ok {
			return []string{rate, mean, highest, more}
		}
	}
}

// cut takes a prefix off a text; false where it has none, or where ok is false.
func cut(text, prefix string, ok bool) (string, bool) {
	if !ok {
		return text, false
	}
	return strings.CutPrefix(text, prefix)
}

// kafkaPercentiles are the values in ms of a line, each with its percentile.
func kafkaPercentiles(text string) [][2]string {
	return around(text, " ms ", func(after string) (string, string, bool) {
		percent, rest, ok := decimal(after, ".,")
		rest, ok = cut(rest, "th", ok)
		return percent, rest, ok
	})
}

// kafkaEndToEnd are the percentiles of a line, each with its value in ms.
func kafkaEndToEnd(text string) [][2]string {
	return around(text, "th = ", func(after string) (string, string, bool) { return decimal(after, ".,") })
}

// around are the numbers before each place of a word in a text, with what follows
// it. None of them overlap.
func around(text, word string, follows func(after string) (found, rest string, ok bool)) (out [][2]string) {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return out
		}
		number, ok := lastDecimal(text[:at+i])
		after := text[at+i+len(word):]
		at += i + len(word)
		if !ok {
			continue
		}
		found, rest, ok := follows(after)
		if !ok {
			continue
		}
		out = append(out, [2]string{number, found})
		text, at = rest, 0
	}
}

// kafkaAverage is the mean latency in ms of Kafka's end-to-end test.
func kafkaAverage(text string) (string, bool) {
	for {
		_, rest, ok := strings.Cut(text, "Avg latency: ")
		if !ok {
			return "", false
		}
		mean, after, ok := decimal(rest, ".,")
		if _, ok = cut(after, " ms", ok); ok {
			return mean, true
		}
		text = rest
	}
}

// blanks are what a regular expression takes for white space.
const blanks = "\t\n\f\r "

// wrkPercentile is a percentile of wrk's list, its value and the unit of that.
func wrkPercentile(text string) (percent, value, unit string, ok bool) {
	percent, rest, ok := decimal(strings.TrimLeft(text, blanks), ".")
	rest, ok = cut(rest, "%", ok)
	value = strings.TrimLeft(rest, blanks)
	if !ok || len(value) == len(rest) {
		return "", "", "", false
	}
	value, unit, ok = decimal(value, ".")
	unit = strings.TrimRight(unit, blanks)
	return percent, value, unit, ok && wrkUnits[unit] != 0
}

// wrkRate is the rate that wrk prints.
func wrkRate(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, "Requests/sec:")
	rate := strings.Trim(rest, blanks)
	if !ok || rate == "" || strings.IndexByte(blanks, rest[0]) < 0 || strings.ContainsAny(rate, blanks) {
		return "", false
	}
	return rate, true
}
