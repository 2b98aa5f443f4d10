package figure

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
)

const (
	// maxPanels is how many panels a sheet has room for; more go to further sheets.
	maxPanels = 24
	// panelWidth and panelHeight are those of one, in CSS pixels.
	panelWidth, panelHeight = 400, 250
	// panelHead is the room for a panel's title.
	panelHead = vg.Length(20)
)

// panel is one figure of a sheet, under a title of its own.
type panel struct {
	title string
	of    Figure
}

// sheets lays panels side by side, in rows, on one figure or more.
func sheets(name, title, caption string, all []panel, st Style) []Figure {
	var out []Figure
	pages := (len(all) + maxPanels - 1) / maxPanels
	for page := range pages {
		part := all[page*maxPanels : min(len(all), (page+1)*maxPanels)]
		columns := min(4, int(math.Ceil(math.Sqrt(float64(len(part))))))
		rows := (len(part) + columns - 1) / columns
		own := st
		own.Width, own.Height = columns*panelWidth, rows*panelHeight
		if st.Titled {
			own.Height += 26
		}
		f := Figure{Name: name, Title: title, Caption: caption, style: own, Legend: part[0].of.Legend}
		if pages > 1 {
			f.Name = fmt.Sprintf("%s-%d", name, page+1)
			f.Caption += fmt.Sprintf(" Sheet %d of %d.", page+1, pages)
		}
		f.draw = func(c draw.Canvas, pal Palette, fc face) {
			w, h := c.Size().X/vg.Length(columns), c.Size().Y/vg.Length(rows)
			for i, p := range part {
				x, y := c.Min.X+vg.Length(i%columns)*w, c.Max.Y-vg.Length(i/columns)*h
				at := c
				at.Rectangle = vg.Rectangle{Min: vg.Point{X: x + 6, Y: y - h + 4}, Max: vg.Point{X: x + w - 6, Y: y - 2}}
				at.FillText(fc.style(nameSize, pal.Ink, draw.XLeft, draw.YTop), vg.Point{X: at.Min.X + 8, Y: at.Max.Y - 2}, fc.fitting(p.title, w-24))
				at.Max.Y -= panelHead
				p.of.draw(at, pal, fc)
			}
		}
		out = append(out, f)
	}
	return out
}

// sameAxes begins the caption of a sheet.
const sameAxes = "A panel for each step, all with the same vertical axis. "

// stepTitle names a step's panel.
func stepTitle(l analysis.Load, rate float64, variant string, repeat int) string {
	title := rateText(rate) + " msg/s"
	if l.Name != "" {
		title = printable(l.Name)
	}
	if variant != "" {
		title += ", " + printable(variant)
	}
	if repeat > 0 {
		title += fmt.Sprintf(" #%d", repeat+1)
	}
	return title
}

// LatencyOverTimePanels draws LatencyOverTime of several steps with one vertical
// axis, so that they can be held against each other; variants tell the steps
// apart beside their rates.
func LatencyOverTimePanels(all []analysis.Series, variants []string, st Style) []Figure {
	if len(all) == 0 {
		return nil
	}
	var points []analysis.Point
	var lines []line
	for _, s := range all {
		drawn, _, _ := overTimeLines(s, st)
		points, lines = append(points, s.Points...), append(lines, drawn...)
	}
	y, _ := latencyRange(points, lines, st.LogScale)
	own := st
	own.axis = &y
	var panels []panel
	for i, s := range all {
		panels = append(panels, panel{stepTitle(s.Load, s.Rate, variants[i], s.Repeat), LatencyOverTime(s, own)})
	}
	name, what := "latency-over-time", "of the messages of each interval"
	if all[0].Cumulative {
		name, what = "latency-cumulative", "of all messages from the warm-up until then"
	}
	if st.draws(analysis.LineMax, true) {
		what += ", with the slowest dotted"
	}
	if st.draws(analysis.LineDensity, true) && !all[0].Cumulative {
		what += ", over a raster of how many took how long"
	}
	title := upperFirst(kindName(all[0].Kind)) + " over time, by step"
	return sheets(name, title, sameAxes+"Lines are percentiles of the "+kindName(all[0].Kind)+" ("+pathOf(all[0].Kind, all[0].Load)+") "+what+". Shaded: the warm-up, cut from all numbers. Dashed: faults and rebalances."+loadNote(all[0].Load), panels, st)
}

// ThroughputPanels and BacklogPanels draw these of several steps with one vertical
// axis.
func ThroughputPanels(all []analysis.Flow, variants []string, st Style) []Figure {
	// Only a schedule says what is due.
	beside := "due"
	if len(all) > 0 && all[0].Load.Closed {
		beside = "begun"
	} else if len(all) > 0 && all[0].Load.Filled {
		beside = "handed over"
	}
	return flowPanels(all, variants, st, "throughput-over-time", "Throughput over time, by step",
		"Received: first deliveries in each second, all consumer groups together, beside what was "+beside+" in it.", throughputFigure)
}

// BacklogPanels: see ThroughputPanels.
func BacklogPanels(all []analysis.Flow, variants []string, st Style) []Figure {
	return flowPanels(all, variants, st, "backlog-over-time", "Backlog over time, by step",
		backlogText(all...), backlogFigure)
}

func flowPanels(all []analysis.Flow, variants []string, st Style, name, title, caption string, of func(analysis.Flow, Style) (Figure, *secondsFigure)) []Figure {
	if len(all) == 0 {
		return nil
	}
	top := 0.0
	for _, s := range all {
		_, fig := of(s, st)
		top = max(top, fig.top())
	}
	var panels []panel
	for i, s := range all {
		f, fig := of(s, st)
		fig.least = top
		panels = append(panels, panel{stepTitle(s.Load, s.Rate, variants[i], s.Repeat), f})
	}
	return sheets(name, title, sameAxes+caption+" Shaded: the warm-up, cut from all numbers. Dashed: faults and rebalances.", panels, st)
}

// Spectra draws the percentile spectra of many distributions: one figure where it
// can hold them, else a panel for each few of one variant.
func Spectra(all []analysis.Distribution, st Style) []Figure {
	if len(all) <= maxSpectra {
		return []Figure{PercentileSpectrum(all, st)}
	}
	var lines []spectrum
	for _, d := range all {
		lines = append(lines, spectrumOf(d, 0, ""))
	}
	y, below := spectrumRange(lines, st.LogScale)
	own := st
	own.axis = &y
	var panels []panel
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && j-i < maxSpectra && all[j].Variant == all[i].Variant {
			j++
		}
		title := printable(all[i].Variant)
		if title == "" {
			title = stepTitle(all[i].Load, all[i].Rate, "", all[i].Repeat)
			if j > i+1 {
				title += " to " + stepTitle(all[j-1].Load, all[j-1].Rate, "", all[j-1].Repeat)
			}
		}
		panels = append(panels, panel{title, PercentileSpectrum(all[i:j], own)})
		i = j
	}
	kind := all[0].Kind
	return sheets("percentile-spectrum", upperFirst(kindName(kind))+" by percentile",
		"A panel for each few steps, all with the same vertical axis. "+spectrumCaption(all, lines, kind, 0, below), panels, st)
}

// RatePanels draws LatencyPerRate of a run whose steps differ by many settings: one
// figure where it can hold them, and beside it a panel for each setting with all
// percentiles where there is more than one.
func RatePanels(sum analysis.Summary, kind analysis.Kind, st Style) []Figure {
	one := LatencyPerRate(sum, kind, st)
	groups := map[string]*analysis.Summary{}
	var order []string
	for _, s := range sum.Steps {
		g := groups[s.Variant]
		if g == nil {
			copied := sum
			copied.Steps, copied.References = nil, nil
			g = &copied
			groups[s.Variant] = g
			order = append(order, s.Variant)
		}
		s.Variant = "" // its title says it
		g.Steps = append(g.Steps, s)
	}
	if len(order) < 2 {
		return []Figure{one} // all percentiles are in it
	}
	var lines []rateLine
	percents := st.Percentiles
	if percents == nil {
		percents = percentilesOf(sum, kind)
	}
	chosen, _ := drawn(percents, 6, analysis.DefaultPercentiles)
	for _, v := range order {
		for _, i := range chosen {
			lines = append(lines, rateLineOf(*groups[v], kind, percents[i], "", "", 0))
		}
	}
	y, _ := rateRange(lines, st.LogScale)
	own := st
	own.axis = &y
	var panels []panel
	for _, v := range order {
		title := printable(v)
		if title == "" {
			title = "without a setting of its own"
		}
		panels = append(panels, panel{title, LatencyPerRate(*groups[v], kind, own)})
	}
	caption := "A panel for each setting, all with the same vertical axis. " + panels[0].of.Caption
	return append([]Figure{one}, sheets("latency-per-rate-by-setting", one.Title+", by setting", caption, panels, st)...)
}

// RatioPanels draws QuantileRatio of many loads: one figure where it can hold
// them, else a panel for each, with its interval.
func RatioPanels(base, other string, kind analysis.Kind, curves []RatioCurve, st Style) []Figure {
	one := QuantileRatio(base, other, kind, curves, st)
	if len(curves) <= maxSpectra {
		return []Figure{one}
	}
	y := ratioAxis(curves, true)
	own := st
	own.axis = &y
	var panels []panel
	for _, c := range curves {
		c.Class = 0
		panels = append(panels, panel{printable(c.Label), QuantileRatio(base, other, kind, []RatioCurve{c}, own)})
	}
	caption := QuantileRatio(base, other, kind, []RatioCurve{{}}, st).Caption
	return sheets(one.Name, one.Title, "A panel for each load, all with the same vertical axis; what has no finite ratio is left blank. "+caption, panels, st)
}
