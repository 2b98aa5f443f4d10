package figure

import (
	"math"
	"slices"
	"strconv"

	"queuebench/analysis"
)

// Layout says where the data of a figure lie in its SVG: what lays a cross-hair
// or a selection over it needs no more.
type Layout struct {
	Left, Top, Right, Bottom float64 // of the data's area, in units of the view box
	X, Y                     Scale
}

// Scale is an axis: Min lies at the left or at the bottom. With Log both are
// log10 of what they stand for.
type Scale struct {
	Min, Max float64
	Log      bool
}

// Data is what a figure draws, as text for people.
type Data struct {
	// What the rows are: "interval", "second"; and many of them.
	Row, Rows string
	Note      string // how to read the cells
	Columns   []Column
	Cells     []DataRow
}

// Column is one value of each row.
type Column struct {
	Name, Unit string
	// Y is what a cell's number is to be multiplied by to lie on the vertical axis;
	// 0 where it does not lie there.
	Y float64
}

// DataRow is what lies at one place along the horizontal axis, or from X to To.
type DataRow struct {
	X, To float64
	Cells []string
}

const msToNs = 1e6

// milliseconds with three digits, and all before the point; ">" is a message that
// never came.
func milliseconds(ns int64) string {
	if ns == -1 {
		return ">"
	}
	return threeDigits(float64(ns) / 1e6)
}

func threeDigits(v float64) string {
	if math.Abs(v) >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func latencyColumns(percentiles []float64) []Column {
	var out []Column
	for _, p := range percentiles {
		out = append(out, Column{PercentileName(p), "ms", msToNs})
	}
	return out
}

// overTimeData has a row per interval. A blank has no message.
func overTimeData(s analysis.Series) Data {
	d := Data{Row: "interval", Rows: "intervals", Note: "Latencies in ms; a blank has no message, > is a message that never came.",
		Columns: []Column{{"from", "s", 0}, {"to", "s", 0}, {"messages", "", 0}, {"min", "ms", msToNs}}}
	d.Columns = append(append(d.Columns, latencyColumns(s.Percentiles)...), Column{"max", "ms", msToNs})
	for _, p := range s.Points {
		row := DataRow{X: p.Start.Seconds(), To: p.End.Seconds(), Cells: []string{Number(p.Start.Seconds()), Number(p.End.Seconds()), strconv.FormatInt(p.N, 10)}}
		if p.N == 0 {
			row.Cells = append(row.Cells, make([]string, len(s.Percentiles)+2)...)
			d.Cells = append(d.Cells, row)
			continue
		}
		if !extremes(p) {
			p.MinNs, p.MaxNs = -1, -1
		}
		row.Cells = append(row.Cells, milliseconds(p.MinNs))
		for _, ns := range p.Ns {
			row.Cells = append(row.Cells, milliseconds(ns))
		}
		row.Cells = append(row.Cells, milliseconds(p.MaxNs))
		d.Cells = append(d.Cells, row)
	}
	return d
}

// ticksPerHalf is how many quantiles the table of a spectrum has in each half of
// what is left up to 1, as HdrHistogram's own listing has.
const ticksPerHalf = 5

// spectrumQuantiles go up to the last that n messages have.
func spectrumQuantiles(n int64) []float64 {
	var out []float64
	for half := 0.5; half*float64(n) >= 0.5; half /= 2 {
		for i := range ticksPerHalf {
			out = append(out, 1-2*half+half*float64(i)/ticksPerHalf)
		}
	}
	return out
}

func spectrumData(ds []analysis.Distribution) Data {
	d := Data{Row: "percentile", Rows: "percentiles", Note: "Latencies in ms; > is a message that never came.", Columns: []Column{{"percentile", "%", 0}}}
	most := int64(0)
	for _, x := range ds {
		most = max(most, x.N())
		d.Columns = append(d.Columns, Column{spectrumLabel(x, ds), "ms", msToNs})
	}
	add := func(x float64, name string, value func(analysis.Distribution) string) {
		row := DataRow{X: x, To: x, Cells: []string{name}}
		for _, y := range ds {
			row.Cells = append(row.Cells, value(y))
		}
		d.Cells = append(d.Cells, row)
	}
	for _, q := range spectrumQuantiles(most) {
		add(spectrumX(q), strconv.FormatFloat(100*q, 'g', 8, 64), func(y analysis.Distribution) string {
			switch {
			case y.N() == 0 || (1-q)*float64(y.N()) < 0.5:
				return ""
			case q == 0 && y.Latency.N > 0:
				return milliseconds(y.Latency.Min)
			}
			ns, beyond := y.Latency.Quantile(max(q, 1e-12), y.Infinite)
			if beyond {
				return ">"
			}
			return milliseconds(ns)
		})
	}
	if most > 0 {
		add(spectrumX(1-0.5/float64(most)), "max", func(y analysis.Distribution) string {
			if y.Latency.N == 0 {
				return ""
			}
			return milliseconds(y.Latency.Max)
		})
	}
	return d
}

func distributionData(x analysis.Distribution, b bins) Data {
	d := Data{Row: "stretch", Rows: "stretches", Note: "Share of all messages, in percent.",
		Columns: []Column{{"from", "ms", 0}, {"to", "ms", 0}, {"share of the messages", "%", 1}}}
	if x.N() == 0 {
		return d
	}
	at := func(i int) float64 {
		v := b.x.min + (b.x.max-b.x.min)*float64(i)/distributionBins
		if b.x.log {
			return math.Pow(10, v)
		}
		return v
	}
	text := func(ns float64) string { return threeDigits(ns / 1e6) }
	for i, share := range b.shares {
		d.Cells = append(d.Cells, DataRow{X: at(i), To: at(i + 1), Cells: []string{text(at(i)), text(at(i + 1)), strconv.FormatFloat(share, 'g', 4, 64)}})
	}
	return d
}

func throughputData(s analysis.Flow) Data {
	d := Data{Row: "second", Rows: "seconds", Note: "Messages per second.",
		Columns: []Column{{"from", "s", 0}, {"to", "s", 0}, {"scheduled", "msg/s", 1}, {"received", "msg/s", 1}}}
	due := bySecond(s.Scheduled)
	rate := func(points []analysis.FlowPoint, i int) string {
		if i >= len(points) {
			return ""
		}
		return strconv.FormatFloat(math.Round(points[i].PerS*10)/10, 'f', -1, 64)
	}
	j := 0
	for i, p := range s.Received {
		for j < len(due) && due[j].End <= p.Start {
			j++
		}
		scheduled := ""
		if j < len(due) && due[j].Start <= p.Start {
			scheduled = rate(due, j)
		}
		d.Cells = append(d.Cells, DataRow{X: p.Start.Seconds(), To: p.End.Seconds(),
			Cells: []string{Number(p.Start.Seconds()), Number(p.End.Seconds()), scheduled, rate(s.Received, i)}})
	}
	return d
}

func backlogData(s analysis.Flow) Data {
	d := Data{Row: "second", Rows: "seconds", Note: "Messages at the end of each " + everyText(s.Depths) + ".",
		Columns: []Column{{"at", "s", 0}, {"backlog", "messages", 1}, {"in flight", "messages", 1}}}
	client := s.ClientQueue()
	if client {
		d.Columns = append(d.Columns, Column{"client's queue", "messages", 1})
	}
	for _, x := range s.Depths {
		at := math.Round(x.At.Seconds()*1e3) / 1e3
		d.Cells = append(d.Cells, DataRow{X: x.At.Seconds(), To: x.At.Seconds(),
			Cells: []string{Number(at), strconv.FormatInt(x.Backlog, 10), strconv.FormatInt(x.InFlight, 10)}})
		if client {
			last := &d.Cells[len(d.Cells)-1]
			last.Cells = append(last.Cells, strconv.FormatInt(x.Client, 10))
		}
	}
	return d
}

func perRateData(sum analysis.Summary, kind analysis.Kind, percentiles []float64) Data {
	d := Data{Row: "step", Rows: "steps", Note: "Latencies in ms; > is a message that never came, a blank has too few messages behind it.",
		Columns: []Column{{"rate", "msg/s", 0}, {"settings", "", 0}, {"repeat", "", 0}, {"messages", "", 0}}}
	spread := map[float64]bool{} // which percentiles have an interval anywhere
	for _, p := range percentiles {
		spread[p] = slices.ContainsFunc(sum.Steps, func(s analysis.StepSummary) bool {
			return s.Latencies[kind.String()].Percentiles[analysis.FormatPercent(p)].HighNs > 0
		})
		d.Columns = append(d.Columns, Column{PercentileName(p), "ms", msToNs})
		if spread[p] {
			d.Columns = append(d.Columns, Column{PercentileName(p) + ", 95 %", "ms", 0})
		}
	}
	d.Columns = append(d.Columns, Column{"max", "ms", msToNs})
	for _, s := range sum.Steps {
		l := s.Latencies[kind.String()]
		row := DataRow{X: s.Rate, To: s.Rate, Cells: []string{Number(s.Rate), s.Variant, strconv.Itoa(s.Repeat + 1), strconv.FormatInt(l.N, 10)}}
		for _, p := range percentiles {
			v, ok := l.Percentiles[analysis.FormatPercent(p)]
			switch {
			case !ok || l.N == 0 || !v.Supported && !v.Beyond && !v.Imported:
				row.Cells = append(row.Cells, "")
			case v.Beyond:
				row.Cells = append(row.Cells, ">")
			default:
				row.Cells = append(row.Cells, milliseconds(v.Ns))
			}
			if spread[p] {
				cell := ""
				if v.HighNs > 0 {
					cell = milliseconds(v.LowNs) + "–" + milliseconds(v.HighNs)
				}
				row.Cells = append(row.Cells, cell)
			}
		}
		if l.N > l.Infinite {
			row.Cells = append(row.Cells, milliseconds(l.MaxNs))
		} else {
			row.Cells = append(row.Cells, "")
		}
		d.Cells = append(d.Cells, row)
	}
	return d
}
