package reliability

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// marks enclose a table in a document: `<!-- results: fuzz -->` those whose IDs begin
// with fuzz/, `<!-- results -->` those that no other marks name.
var marks = regexp.MustCompile(`(?ms)^<!-- results(?:: ([a-z-]+))? -->\n(.*?)^<!-- end of results -->$`)

// Document writes chosen rows between the marks of a document.
func Document(doc string, rows []Row) (string, error) {
	found := marks.FindAllStringSubmatch(doc, -1)
	if len(found) == 0 {
		return "", fmt.Errorf("the document has no line %q with %q after it", "<!-- results -->", "<!-- end of results -->")
	}
	var named []string
	for _, m := range found {
		named = append(named, m[1])
	}
	if !slices.Contains(named, "") {
		return "", fmt.Errorf("the document has no line %q, for what belongs to no other table", "<!-- results -->")
	}
	machines := machinesOf(rows)
	out := marks.ReplaceAllStringFunc(doc, func(text string) string {
		name := marks.FindStringSubmatch(text)[1]
		var mine []Row
		for _, r := range rows {
			section, _, _ := strings.Cut(r.ID, "/")
			if !slices.Contains(named, section) {
				section = ""
			}
			if section == name {
				mine = append(mine, r)
			}
		}
		first, _, _ := strings.Cut(text, "\n")
		return first + "\n" + table(mine, machines) + "<!-- end of results -->"
	})
	return out, nil
}

// machinesOf are those of all rows, in the order in which they stand there.
func machinesOf(rows []Row) (all []string) {
	for _, r := range rows {
		if r.Machine != "" && !slices.Contains(all, r.Machine) {
			all = append(all, r.Machine)
		}
	}
	return all
}

// columns of a table; one that is empty in all rows is left out.
var columns = []struct {
	title string
	of    func(r Row, machines []string) string
}{
	{"what was tried", func(r Row, _ []string) string { return r.What }},
	{"how often", func(r Row, _ []string) string { return r.Often }},
	{"what has to hold", func(r Row, _ []string) string { return r.Holds }},
	{"what happened", func(r Row, _ []string) string {
		switch {
		case !r.Failed:
			return r.Happened
		case r.Happened == "":
			return "**it failed**"
		}
		return "**it failed**: " + r.Happened
	}},
	{"where", func(r Row, _ []string) string { return r.Where }},
	{"when, commit, machine", func(r Row, machines []string) string {
		if r.At.IsZero() {
			return "" // it never was
		}
		return fmt.Sprintf("%s, %s, %s", r.At.UTC().Format("2006-01-02"), r.Commit, letter(slices.Index(machines, r.Machine)))
	}},
}

// letter is A for 0, Z for 25, AA for 26.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return letter(i/26-1) + letter(i%26)
}

var cell = strings.NewReplacer("|", `\|`, "\n", " ")

func table(rows []Row, machines []string) string {
	if len(rows) == 0 {
		return "Nothing yet.\n"
	}
	var out strings.Builder
	var shown []int
	for i, c := range columns {
		if slices.ContainsFunc(rows, func(r Row) bool { return c.of(r, machines) != "" }) {
			shown = append(shown, i)
		}
	}
	line := func(text func(column int) string) {
		for _, i := range shown {
			out.WriteString("| " + cell.Replace(text(i)) + " ")
		}
		out.WriteString("|\n")
	}
	line(func(i int) string { return columns[i].title })
	out.WriteString(strings.Repeat("|---", len(shown)) + "|\n")
	for _, r := range rows {
		line(func(i int) string { return columns[i].of(r, machines) })
	}
	out.WriteString("\n")
	for i, m := range machines {
		if slices.ContainsFunc(rows, func(r Row) bool { return r.Machine == m }) {
			fmt.Fprintf(&out, "%s: %s.\n", letter(i), m)
		}
	}
	return out.String()
}
