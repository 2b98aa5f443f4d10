package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/ascii85"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"net/url"
	"strconv"
	"strings"

	"queuebench/analysis"
	"queuebench/report"
	"queuebench/report/comparison"
	"queuebench/report/texts"
)

// Options of a report.
type Options struct {
	// Light leaves out the analyzer and the digest: everything can be read,
	// nothing can be changed.
	Light bool
	// Base is the index of the run that a comparison holds the others against,
	// Labels name its runs: see report.Options.
	Base   int
	Labels []string

	site string // the run's address in the site whose page this is: runs/…
}

// noScript tells those who have scripts switched off what they can do.
const noScript = `<noscript><p class="note">` + texts.ScriptsOff + `</p></noscript>
`

// reportWidth is the width of the figures that are drawn beforehand, in CSS
// pixels: that of the page's column.
const reportWidth = 1020

// WriteReport writes a run under a view as one HTML file that opens from disk,
// asks nobody for anything, and shows all tables and figures with scripts off.
// The error wraps ErrNoWASM where a full report is asked of a program without
// the page's analyzer.
func WriteReport(w io.Writer, d *analysis.Digest, v analysis.View, o Options) error {
	return writeSingle(w, []*analysis.Digest{d}, o, texts.ReportBrand, func(ds []*analysis.Digest) (report.Document, error) {
		return report.Build(ds[0], v, report.Options{Width: reportWidth})
	})
}

// WriteComparison does the same for several runs, held against the first of them,
// or against the one that o.Base names.
func WriteComparison(w io.Writer, ds []*analysis.Digest, v analysis.View, o Options) error {
	return writeSingle(w, ds, o, texts.ComparisonBrand, func(ds []*analysis.Digest) (report.Document, error) {
		return comparison.Build(ds, v, report.Options{Width: reportWidth, Base: o.Base, Labels: o.Labels})
	})
}

func writeSingle(w io.Writer, ds []*analysis.Digest, o Options, brand string, build func([]*analysis.Digest) (report.Document, error)) error {
	// What is drawn here is what the page draws again of the digests in it.
	fitted := make([]*analysis.Digest, len(ds))
	for i, d := range ds {
		var err error
		// Of more than two runs each gets less room: the file stays below 4 MB.
		if fitted[i], err = d.Fit(min(analysis.PageBytes, 2*analysis.PageBytes/len(ds))); err != nil {
			return err
		}
	}
	doc, err := build(fitted)
	if err != nil {
		return err
	}
	var blocks, script string
	csp := "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
	if !o.Light {
		if blocks, err = dataBlocks(fitted); err != nil {
			return err
		}
		if script, err = inline("report.js"); err != nil {
			return err
		}
		hash := sha256.Sum256([]byte(script))
		csp = "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "' 'wasm-unsafe-eval'; worker-src blob:; " +
			"style-src 'unsafe-inline'; img-src data: blob:; connect-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"
	}

	var p page
	p.head(doc.Title, csp, "<style>\n"+styles()+"</style>")
	nav := `<a href="#facts" data-goto>` + texts.Measured + `</a>`
	if len(ds) > 1 && !o.Light {
		nav = `<a href="#view=compare">` + texts.Comparison + `</a> ` + nav
	}
	if o.site != "" {
		nav = `<a href="../index.html">` + texts.AllRuns + `</a> <a href="../index.html#log=` + html.EscapeString(url.QueryEscape(o.site)) + `">` + texts.Explore + `</a> ` + nav
	}
	p.top(html.EscapeString(brand), nav, "headline")
	fmt.Fprintf(&p, "<main id=\"main\" data-view=\"%s\" data-width=\"%d\"", html.EscapeString(doc.Controls.Fragment), reportWidth)
	if len(ds) > 1 {
		// What the address leaves open: all runs, under these names, against this
		// base.
		fmt.Fprintf(&p, " data-page=\"%s\"", html.EscapeString(comparisonPage(o)))
	}
	p.WriteString(">\n")
	if !o.Light {
		p.WriteString(openedHTML)
	}
	for _, r := range doc.Regions {
		fmt.Fprintf(&p, "<section id=\"%s\" data-region>%s</section>\n", html.EscapeString(r.ID), r.HTML)
		if r.ID == "headline" && !o.Light {
			p.WriteString(`<div id="controls-holder" class="controls-holder" hidden>` + report.ControlsHTML(doc.Controls) + "</div>\n")
			p.WriteString(noScript)
		}
	}
	p.WriteString("</main>\n")
	if !o.Light {
		p.WriteString(besideHTML)
	}
	p.foot(texts.ReportFoot(html.EscapeString(fitted[0].Manifest.Program.Version)))
	p.WriteString(blocks)
	if script != "" {
		p.WriteString("<script type=\"module\">" + script + "</script>\n")
	}
	p.WriteString("</body>\n</html>\n")
	_, err = io.WriteString(w, p.String())
	return err
}

// comparisonPage is the page's part of the address that a comparison was written
// with: what it shows where the address says nothing else.
func comparisonPage(o Options) string {
	page := "view=compare"
	if o.Base > 0 {
		page += "&base=" + strconv.Itoa(o.Base+1)
	}
	for _, label := range o.Labels {
		page += "&label=" + url.QueryEscape(label)
	}
	return page
}

// dataBlocks are the analyzer and the digests, for the page's script.
func dataBlocks(ds []*analysis.Digest) (string, error) {
	a, err := loadAnalyzer()
	if err != nil {
		return "", err
	}
	worker, err := workerScript(a)
	if err != nil {
		return "", err
	}
	blocks := block("data-worker", []byte(worker)) + block("data-wasm", a.wasm)
	for i, d := range ds {
		digest, err := packDigest(d)
		if err != nil {
			return "", err
		}
		id := "data-digest"
		if len(ds) > 1 {
			id += "-" + strconv.Itoa(i+1)
		}
		blocks += block(id, digest)
	}
	return blocks, nil
}

// block is data in the page, in base 85: a twentieth smaller than base 64, which
// is 200 kB of the analyzer and a digest. Without "<" it can neither end the
// element nor begin a comment.
func block(id string, data []byte) string {
	text := make([]byte, ascii85.MaxEncodedLen(len(data)))
	text = text[:ascii85.Encode(text, data)]
	return `<script type="application/octet-stream" id="` + id + `">` + strings.ReplaceAll(string(text), "<", "v") + "</script>\n"
}

// packDigest writes a digest as gzip, the same bytes each time.
func packDigest(d *analysis.Digest) ([]byte, error) {
	var b bytes.Buffer
	err := analysis.PackDigest(&b, d)
	return b.Bytes(), err
}
