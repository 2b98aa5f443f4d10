package browser

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"queuebench/site"
)

// docs asks for the pictures of docs to be taken anew.
var docs = flag.Bool("docs", false, "take the pictures of docs anew")

// mostBytes is what a picture of docs may weigh: they are part of each clone.
const mostBytes = 80_000

// picture is one of docs: a page, and how it is shown.
type picture struct {
	name          string
	width, height int64
	dark          bool
	open          func(t *testing.T, b *tab)
}

var album = []picture{
	{"report-light", 1000, 760, false, openReport},
	{"report-dark", 1000, 760, true, openReport},
	{"step-in-depth", 1000, 860, false, func(t *testing.T, b *tab) {
		openReport(t, b)
		b.choose(2)
		b.change(func() { b.brush(12.9, 14.3) })
		b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); document.querySelector("#controls-holder").style.position = "static"; document.querySelector("#step-2-0").scrollIntoView()`))
	}},
	{"slowest-messages", 1000, 420, false, func(t *testing.T, b *tab) {
		openReport(t, b)
		b.choose(2)
		b.change(func() { b.brush(12.9, 14.3) })
		b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); document.querySelector("#controls-holder").style.position = "static"; const d = document.querySelector("#step-2-0 details.slowest"); d.open = true; d.scrollIntoView()`))
	}},
	{"comparison", 1000, 900, false, func(t *testing.T, b *tab) { b.open(comparisonFile(t, site.Options{}, faster(), slower())) }},
	{"narrow", 400, 780, false, openReport},
}

func openReport(t *testing.T, b *tab) {
	b.open(reportFile(t, run(), seconds(3), site.Options{}))
}

// TestPicturesOfDocs holds the pictures of docs to their size, and each to a
// place that shows it. With -docs it takes them first:
//
//	go test -run TestPicturesOfDocs -docs
func TestPicturesOfDocs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("..", "..", "docs")
	var text strings.Builder
	for _, pattern := range []string{"*.md", filepath.Join("..", "README.md")} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(b)
		}
	}
	names := map[string]bool{}
	for _, p := range album {
		names[p.name+".png"] = true
		if *docs {
			take(t, p, filepath.Join(dir, p.name+".png"))
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := filepath.Base(f)
		if !names[name] {
			t.Errorf("docs/%s is taken by no test", name)
		}
		delete(names, name)
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(bytes.NewReader(b)); err != nil || len(b) > mostBytes {
			t.Errorf("docs/%s has %d bytes, at most %d; %v", name, len(b), mostBytes, err)
		}
		if !strings.Contains(text.String(), name+")") {
			t.Errorf("docs/%s is shown nowhere", name)
		}
	}
	for name := range names {
		t.Errorf("docs/%s is not there: go test -run TestPicturesOfDocs -docs", name)
	}
}

func take(t *testing.T, p picture, file string) {
	t.Helper()
	b := newTab(t)
	b.look(p.width, p.height, p.dark)
	p.open(t, b)
	eval[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	b.wait(`!document.getElementById("main").dataset.computing`)
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
	if err != nil {
		t.Fatal(err)
	}
	full, err := png.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, fewer(full)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", file, out.Len())
}

// fewer draws a picture with the 64 colours that it has most of, each other one
// as the nearest of them: pages have few, and edges of letters the rest.
func fewer(full image.Image) image.Image {
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA {
		c := color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)
		// Shades that are hardly told apart are one.
		return color.RGBA{c.R &^ 3, c.G &^ 3, c.B &^ 3, 255}
	}
	r := full.Bounds()
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var few color.Palette
	for _, c := range all[:min(len(all), 64)] {
		// The brightest shade of each is what the page has: white stays white.
		few = append(few, color.RGBA{c.R | c.R>>6, c.G | c.G>>6, c.B | c.B>>6, 255})
	}
	nearest := map[color.RGBA]uint8{}
	out := image.NewPaletted(image.Rect(0, 0, r.Dx(), r.Dy()), few)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := at(x, y)
			i, ok := nearest[c]
			if !ok {
				i = uint8(few.Index(c))
				nearest[c] = i
			}
			out.SetColorIndex(x-r.Min.X, y-r.Min.Y, i)
		}
	}
	return out
}
