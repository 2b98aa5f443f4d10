package main

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"queuebench/analysis"
	"queuebench/figure"
	"queuebench/internal/columns"
	"queuebench/internal/command"
	"queuebench/internal/storeflags"
)

func overlayCommand() *cli.Command {
	return &cli.Command{
		Name:      "overlay",
		Usage:     "draw several runs into one figure of latency per rate",
		ArgsUsage: "RUN RUN…",
		Description: "Writes overlay.html and latency-per-rate.svg, with a line for each run and a table that has what an\n" +
			"acknowledgement meant beside each number, and prints that table and the paths. Runs of one queue that\n" +
			"stand beside other queues have a figure of their own, too. Without --scale the axis is logarithmic\n" +
			"where medians differ by more than twenty times. It tests nothing: analyze compare does.\n\n" + runArgument,
		UsageText: "   analyze overlay RUN RUN --out figures",
		Flags: append(append(viewFlags(),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "folder to write to", Value: "."},
		), storeflags.Flags()...),
		Action: overlay,
	}
}

func overlay(c *cli.Context) error {
	v, err := viewOf(c)
	if err != nil {
		return err
	}
	if c.NArg() < 2 {
		return command.Misusef("overlay takes at least two RUNs: give the addresses that bench printed last")
	}
	dir, err := outOf(c)
	if err != nil {
		return err
	}
	var all []analysis.Summary
	asked := v
	for i, address := range c.Args().Slice() {
		d, err := openRun(c, address, asked)
		if err != nil {
			return err
		}
		own := asked.Of(d)
		if i == 0 {
			v = own
		} else if own.Kind != v.Kind {
			return fmt.Errorf("overlay draws one latency: that of %s is %s, and that of %s is %s", labelOf(c.Args().First()), v.Kind.Title(), labelOf(address), own.Kind.Title())
		}
		all = append(all, analysis.Summarize(d, own))
	}
	labels := overlayLabels(all, c.Args().Slice())
	figures := overlayFigures(all, labels, v, !c.IsSet("scale"))
	header, rows := overlayTable(all, labels, v)
	if err := makeFolder(dir); err != nil {
		return err
	}
	page := filepath.Join(dir, "overlay.html")
	if err := writeFile(page, func(w io.Writer) error { return overlayPage(w, figures, header, rows) }); err != nil {
		return err
	}
	var paths []string
	for _, f := range figures {
		for _, i := range f.runs { // the file goes without the table
			f.Caption += fmt.Sprintf(" %s: %s", labels[i], all[i].DurabilityText())
		}
		path := filepath.Join(dir, f.Name+".svg")
		if err := writeFile(path, func(w io.Writer) error { return f.WriteTo(w, "svg") }); err != nil {
			return err
		}
		paths = append(paths, path)
	}
	for _, row := range append([][]string{header}, rows...) {
		if err := command.Print(c.App.Writer, "%s\n", strings.Join(cleaned(row), "\t")); err != nil {
			return err
		}
	}
	return command.Print(c.App.Writer, "%s\n", strings.Join(append(paths, page), "\n"))
}

// overlaid is one summary with the steps of all, each a variant of its run.
func overlaid(all []analysis.Summary, labels []string) analysis.Summary {
	var sum analysis.Summary
	// A figure has room for some lines: the first run of each queue comes before the
	// second of any.
	turn, seen := make([]int, len(all)), map[string]int{}
	order := make([]int, len(all))
	for i := range all {
		turn[i], order[i] = seen[all[i].Queue.Kind], i
		seen[all[i].Queue.Kind]++
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(turn[a], turn[b]) })
	for _, i := range order {
		for _, s := range all[i].Steps {
			s.Variant = strings.Replace(strings.TrimSuffix(labels[i]+", "+s.Variant, ", "), "(in-process floor)", "floor", 1)
			sum.Steps = append(sum.Steps, s)
		}
	}
	return sum
}

func overlayTable(all []analysis.Summary, labels []string, v analysis.View) (header []string, rows [][]string) {
	header = []string{"queue", "msg/s", "messages", "lost"}
	for _, p := range v.Percentiles {
		header = append(header, figure.PercentileName(p))
	}
	header = append(header, "an acknowledgement means")
	for i := range all {
		for _, s := range all[i].Steps {
			l := s.Latencies[v.Kind.String()]
			name := strings.TrimSuffix(labels[i]+", "+s.Variant, ", ")
			row := []string{name, strconv.FormatFloat(math.Round(s.Rate*1000)/1000, 'f', -1, 64), fmt.Sprint(l.N), fmt.Sprint(s.Accounting.Lost)}
			for _, p := range v.Percentiles {
				text := "-"
				if q, ok := l.Percentiles[figure.PercentileName(p)[1:]]; ok {
					text = q.Text()
				}
				row = append(row, text)
			}
			rows = append(rows, append(row, s.Durability))
		}
	}
	return header, rows
}

// cleaned are cells that stay in their place on a terminal.
func cleaned(cells []string) []string {
	out := make([]string, len(cells))
	for i, cell := range cells {
		out[i] = columns.Clean(cell)
	}
	return out
}

// overlayPage is a page without scripts.
func overlayPage(w io.Writer, figures []overlayFigure, header []string, rows [][]string) error {
	var b strings.Builder
	f := figures[0]
	b.WriteString("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>" + html.EscapeString(f.Title) + "</title>\n" +
		"<style>body{font:15px/1.5 system-ui,sans-serif;max-width:85rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}" +
		"td,th{padding:.3rem .6rem;border-bottom:1px solid #ccc;text-align:left;vertical-align:top}figure{margin:1rem 0}figcaption{color:#555;max-width:60rem}td:not([rowspan]){white-space:nowrap}td[rowspan]{min-width:22rem}.scroll{overflow-x:auto}svg{max-width:100%;height:auto}</style>\n")
	b.WriteString("<h1>" + html.EscapeString(f.Title) + "</h1>\n")
	for i, f := range figures {
		if i > 0 {
			b.WriteString("<h2>" + html.EscapeString(f.Title) + "</h2>\n")
		}
		svg, err := f.SVG()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "<figure>%s\n<figcaption>%s</figcaption></figure>\n", svg, html.EscapeString(f.Caption))
	}
	b.WriteString("<div class=\"scroll\"><table><thead><tr>")
	for _, h := range header {
		b.WriteString("<th>" + html.EscapeString(h) + "</th>")
	}
	b.WriteString("</tr></thead><tbody>\n")
	for i, row := range rows {
		b.WriteString("<tr>")
		last := len(row) - 1
		for _, cell := range row[:last] {
			b.WriteString("<td>" + html.EscapeString(cell) + "</td>")
		}
		// What all rates of a run share stands beside them once.
		same := func(k int) bool { return rows[k][0] == row[0] && rows[k][last] == row[last] }
		if i == 0 || !same(i-1) {
			n := 1
			for i+n < len(rows) && same(i+n) {
				n++
			}
			fmt.Fprintf(&b, `<td rowspan="%d">%s</td>`, n, html.EscapeString(row[last]))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
