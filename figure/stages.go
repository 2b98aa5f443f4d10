package figure

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
)

// maxBars is how many steps a figure of stages has room for.
const maxBars = 12

// stageBar is one step: the mean time of each stage, in the order of the stages.
type stageBar struct {
	label string
	parts []stagePart
	total int64
}

type stagePart struct {
	stage int // index into the figure's stages
	ns    int64
}

// StageTimes draws, a bar for each step, the mean time of the stages that a
// batch passes, one after the other. Means, since medians do not add up.
func StageTimes(sum analysis.Summary, st Style) Figure {
	bars, names, left := stageBars(sum)
	f := Figure{Name: "stage-times", Title: "Where a message's time goes", style: st}
	if st.Height == 0 {
		f.style.Height = 110 + 26*max(len(bars), len(names)*2/3)
	}
	for i, n := range names {
		f.Legend = append(f.Legend, LegendEntry{stageTitle(n), i % 7})
	}
	f.Caption = "Each bar is a step, and each piece of it the mean time of a stage over the batches of the step, the warm-up included: waiting counts from the first message of a batch, the finding of a commit from the one before it, so that they overlap and the bar is longer than a message's latency."
	if left > 0 {
		f.Caption += " " + plural(left, "more step is", "more steps are") + " in the tables only."
	}
	f.draw = func(c draw.Canvas, pal Palette, fc face) { drawStages(c, pal, fc, bars, names) }
	return f
}

func stageTitle(name string) string { return strings.ReplaceAll(name, "_", " ") }

func stageBars(sum analysis.Summary) (bars []stageBar, names []string, left int) {
	at := map[string]int{}
	repeats := false
	for _, s := range sum.Steps {
		repeats = repeats || s.Repeat > 0
	}
	for _, s := range sum.Steps {
		if s.Stages == nil {
			continue
		}
		if len(bars) == maxBars {
			left++
			continue
		}
		b := stageBar{label: rateText(s.Rate) + "/s"}
		if repeats {
			b.label += " #" + rateText(float64(s.Repeat+1))
		}
		if s.Variant != "" {
			b.label += ", " + printable(s.Variant)
		}
		for _, x := range s.Stages.Stages {
			i, ok := at[x.Stage]
			if !ok {
				i = len(names)
				at[x.Stage] = i
				names = append(names, x.Stage)
			}
			b.parts = append(b.parts, stagePart{i, x.MeanNs})
			b.total += x.MeanNs
		}
		bars = append(bars, b)
	}
	return bars, names, left
}

// stageColour is one of seven, and from the eighth on a pale one of them.
func stageColour(pal Palette, i int) color.NRGBA {
	c := pal.Series[i%7]
	if i >= 7 {
		c.A = 110
	}
	return c
}

func drawStages(c draw.Canvas, pal Palette, fc face, bars []stageBar, names []string) {
	c.Min.X += 8
	c.Max.X -= 6
	c.Min.Y += 8
	c.Max.Y -= 8
	legend := vg.Length(30)
	for _, n := range names {
		legend = max(legend, 30+fc.width(labelSize+1.5, stageTitle(n)))
	}
	room := vg.Length(0)
	for _, b := range bars {
		room = max(room, fc.width(labelSize+1.5, b.label)+8)
	}
	room = min(room, c.Size().X/3)
	data := draw.Crop(c, room, -legend, 34, 0)
	var top int64 = 1
	for _, b := range bars {
		top = max(top, b.total)
	}
	if len(bars) == 0 {
		top = 1e6 // 1 ms, as other figures of nothing have it
	}
	x := linearLatency(0, float64(top))
	at := func(ns float64) vg.Length { return data.Min.X + (data.Max.X-data.Min.X)*vg.Length(ns/x.max) }
	for _, t := range uncrowded(x, data.Size().X, fc) {
		data.StrokeLine2(draw.LineStyle{Color: pal.Grid, Width: 0.8}, at(t.value), data.Min.Y, at(t.value), data.Max.Y)
		c.FillText(fc.style(labelSize, pal.Muted, draw.XCenter, draw.YTop), vg.Point{X: at(t.value), Y: data.Min.Y - 3}, t.label)
	}
	c.FillText(fc.style(nameSize, pal.Muted, draw.XCenter, draw.YBottom), vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: c.Min.Y}, "mean time per batch")
	if len(bars) == 0 {
		data.FillText(fc.style(13, pal.Muted, draw.XCenter, draw.YCenter), data.Center(), "this queue told no stages")
		return
	}
	pitch := data.Size().Y / vg.Length(len(bars))
	for k, b := range bars {
		middle := data.Max.Y - pitch*(vg.Length(k)+0.5)
		half := min(pitch*0.36, 13)
		c.FillText(fc.style(labelSize, pal.Ink, draw.XRight, draw.YCenter), vg.Point{X: data.Min.X - 6, Y: middle}, fc.fitting(b.label, room-8))
		from := int64(0)
		for _, p := range b.parts {
			l, r := at(float64(from)), at(float64(from+p.ns))
			from += p.ns
			data.FillPolygon(stageColour(pal, p.stage), []vg.Point{{X: l, Y: middle - half}, {X: r, Y: middle - half}, {X: r, Y: middle + half}, {X: l, Y: middle + half}})
		}
	}
	for i, n := range names {
		y := data.Max.Y - vg.Length(i)*16 - 8
		px := data.Max.X + 10
		c.FillPolygon(stageColour(pal, i), []vg.Point{{X: px, Y: y - 5}, {X: px + 12, Y: y - 5}, {X: px + 12, Y: y + 5}, {X: px, Y: y + 5}})
		c.FillText(fc.style(labelSize, pal.Ink, draw.XLeft, draw.YCenter), vg.Point{X: px + 17, Y: y}, stageTitle(n))
	}
}
