package main

import (
	"net/url"
	"path"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/internal/command"
	"queuebench/site"
)

// pageOfLink is the page that --link names, nil where there is none.
func pageOfLink(c *cli.Context) (*url.URL, error) {
	link := c.String("link")
	switch {
	case link == "":
		return nil, nil
	case !c.Bool("markdown"):
		return nil, command.Misusef("--link is part of what --markdown prints: give both")
	}
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.ContainsAny(link, "<>\n ") {
		return nil, command.Misusef("--link %.80q is no address of a page: write https://host/path/", link)
	}
	return u, nil
}

// linkTo is the address of a page that shows a run under a view: what its own
// fragment says stays, a site is told which of its runs it is, and a report has
// no other.
func linkTo(c *cli.Context, u *url.URL, run string, v analysis.View) string {
	if u == nil {
		return ""
	}
	if !c.IsSet("percentiles") {
		v.Percentiles = nil // the page's own
	}
	page, fragment, _ := strings.Cut(c.String("link"), "#")
	parts := []string{fragment, "", v.Fragment()}
	name := path.Base(u.Path)
	given, err := url.ParseQuery(fragment)
	if isPage := path.Ext(name) == ".html" || path.Ext(name) == ".htm"; err == nil && !given.Has("log") && (!isPage || name == "index.html") {
		parts[1] = url.Values{"log": {site.Address(run)}}.Encode()
	}
	return page + hash(parts...)
}
