package site

import (
	"html"
	"strings"

	"queuebench/report/texts"
)

// page writes the parts that both pages share.
type page struct{ strings.Builder }

func (p *page) head(title, csp, style string) {
	p.WriteString("<!DOCTYPE html>\n<html lang=\"" + texts.Language + "\">\n<head>\n<meta charset=\"utf-8\">\n")
	p.WriteString(`<meta http-equiv="Content-Security-Policy" content="` + html.EscapeString(csp) + "\">\n")
	p.WriteString(`<meta name="viewport" content="width=device-width, initial-scale=1">` + "\n<meta name=\"referrer\" content=\"no-referrer\">\n")
	p.WriteString("<link rel=\"icon\" href=\"data:,\">\n")
	p.WriteString("<title>" + html.EscapeString(title) + "</title>\n" + style + "\n</head>\n")
}

// top is the bar at the top; brand and nav are markup of this package, and to is
// the ID of what most readers came for.
func (p *page) top(brand, nav, to string) {
	p.WriteString(`<body><a class="skip" data-goto href="#` + to + `">` + texts.Skip + `</a>` + "\n")
	p.WriteString(`<header class="top"><div><div class="brand">` + brand + `</div><nav aria-label="` + texts.Navigation + `">` + nav + "</nav></div></header>\n")
}

func (p *page) foot(text string) {
	p.WriteString("<footer><p>" + text + "</p></footer>\n")
}
