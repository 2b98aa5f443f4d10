package figure

import (
	"fmt"
	"html"
	"strings"
)

// finishSVG turns what vgsvg wrote into what a page can carry: text that
// anchors and falls back to a face that the reader has, a size that a style
// sheet may change, a title and a description for those who do not see it, and
// for the theme Page colours from the page's variables. Each rewriting is
// checked: a colour that no role owns is an error, not a wrong colour.
func finishSVG(s string, f Figure) (string, error) {
	i := strings.Index(s, "<svg")
	j := strings.Index(s[max(i, 0):], ">\n")
	if i < 0 || j < 0 {
		return "", fmt.Errorf("figure %s: vgsvg wrote no <svg> element", f.Name)
	}
	body := s[i+j+2:]

	const vgFont = "font-family:Go;font-variant:none;font-weight:normal;font-style:normal;"
	family := "font-family:Go,Helvetica,Arial,sans-serif;"
	if f.style.Theme == Page {
		family = ""
	}
	body = strings.ReplaceAll(body, vgFont, family)
	body = strings.ReplaceAll(body, "\n\tstyle=", " style=")
	if strings.Contains(body, "font-variant") {
		return "", fmt.Errorf("figure %s: vgsvg wrote its font in a form that is not known here", f.Name)
	}
	body = joinLines(shortPaths(body))
	// vgsvg names PNG bytes JPEG, and would keep the image's own proportions.
	body = strings.ReplaceAll(body, ` xlink:href="data:image/jpg;base64,`, ` preserveAspectRatio="none" style="image-rendering:pixelated" xlink:href="data:image/png;base64,`)
	body = anchor(body, markMiddle, "middle")
	body = anchor(body, markEnd, "end")

	if f.style.Theme == Page {
		var err error
		if body, err = themed(body); err != nil {
			return "", fmt.Errorf("figure %s: %w", f.Name, err)
		}
	}

	w, h := f.style.size()
	id := "fig-" + f.Name
	var b strings.Builder
	if f.style.Theme != Page {
		b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	}
	xlink := ""
	if strings.Contains(body, "xlink:") {
		xlink = ` xmlns:xlink="http://www.w3.org/1999/xlink"`
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg"%s viewBox="0 0 %.5g %.5g" width="%.5g" height="%.5g" role="img" aria-labelledby="%s-t %s-d">`+"\n",
		xlink, w.Points(), h.Points(), w.Points(), h.Points(), id, id)
	fmt.Fprintf(&b, "<title id=\"%s-t\">%s</title>\n<desc id=\"%s-d\">%s</desc>\n", id, html.EscapeString(f.Title), id, html.EscapeString(f.Caption))
	b.WriteString(body)
	return b.String(), nil
}

// anchor gives the text elements that carry the mark their text-anchor.
func anchor(s string, mark rune, value string) string {
	return strings.ReplaceAll(s, ">"+string(mark), ` text-anchor="`+value+`">`)
}

// themed replaces each colour of the light palette by its variable.
func themed(s string) (string, error) {
	for _, r := range lightPalette().roles() {
		h := hexText(r.color)
		s = strings.ReplaceAll(s, ":"+h, ":var(--fig-"+r.name+","+strings.ToLower(h)+")")
	}
	if i := strings.Index(s, ":#"); i >= 0 {
		return "", fmt.Errorf("the colour %s belongs to no role of the palette", s[i+1:min(len(s), i+8)])
	}
	return s, nil
}
