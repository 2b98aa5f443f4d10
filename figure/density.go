package figure

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"queuebench/analysis"
	"queuebench/stats"
)

// The raster behind the lines of latency over time: at most so many columns and
// rows, whatever the number of messages, and so many steps of darkness.
const (
	densityColumns = 240
	densityRows    = 96
	densityLevels  = 12
)

// density is a raster of message counts, row 0 at the bottom of the axis.
type density struct {
	from, to float64 // seconds
	counts   [][]float64
	most     float64
}

// densityOf adds up the messages of each column of time and each row of the
// axis. A bucket that spans several rows is shared among them in proportion.
func densityOf(points []analysis.Point, y latencyAxis) density {
	columns := columnsOf(points, densityColumns)
	if len(columns) == 0 {
		return density{}
	}
	d := density{from: points[0].Start.Seconds(), to: lastSecond(points), counts: make([][]float64, len(columns))}
	for i, column := range columns {
		rows := make([]float64, densityRows)
		for _, p := range column {
			for _, b := range p.Latency.Buckets {
				spreadOver(rows, b, y)
			}
		}
		for _, n := range rows {
			d.most = max(d.most, n)
		}
		d.counts[i] = rows
	}
	return d
}

func spreadOver(rows []float64, b stats.Bucket, y latencyAxis) {
	low, high := stats.Bounds(b.Index)
	lo, ok := y.pos(float64(low) - 0.5)
	hi, ok2 := y.pos(float64(high) + 0.5)
	if !ok2 { // at or below 0 on a logarithmic axis, which the caption counts
		return
	}
	if !ok {
		lo = hi
	}
	row := func(v float64) float64 { return (v - y.min) / (y.max - y.min) * float64(len(rows)) }
	from, to := row(lo), row(hi)
	first := min(max(int(math.Floor(from)), 0), len(rows)-1)
	last := min(max(int(math.Floor(to)), 0), len(rows)-1)
	if first == last || to <= from {
		rows[first] += float64(b.Count)
		return
	}
	for r := first; r <= last; r++ {
		share := (min(to, float64(r+1)) - max(from, float64(r))) / (to - from)
		rows[r] += float64(b.Count) * share
	}
}

// empty says that there is nothing to draw.
func (d density) empty() bool { return d.most <= 0 }

// image paints log(1 + count): a cell without a message is transparent.
func (d density) image(ink color.NRGBA) image.Image {
	palette := color.Palette{color.NRGBA{}}
	for i := range densityLevels {
		c := ink
		c.A = uint8(16 + 150*(i+1)/densityLevels)
		palette = append(palette, c)
	}
	img := image.NewPaletted(image.Rect(0, 0, len(d.counts), densityRows), palette)
	top := math.Log1p(d.most)
	for x, rows := range d.counts {
		for r, n := range rows {
			if n > 0 {
				level := 1 + min(int(math.Log1p(n)/top*densityLevels), densityLevels-1)
				img.SetColorIndex(x, densityRows-1-r, uint8(level))
			}
		}
	}
	return img
}

// paint draws the raster over its stretch of time.
func (d density) paint(data draw.Canvas, fr frame) {
	if d.empty() {
		return
	}
	left, right := data.X(fr.X.Norm(d.from)), data.X(fr.X.Norm(d.to))
	data.DrawImage(vg.Rectangle{Min: vg.Point{X: left, Y: data.Min.Y}, Max: vg.Point{X: right, Y: data.Max.Y}}, d.image(fr.pal.Density))
}
