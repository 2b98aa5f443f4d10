package gate

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"queuebench/internal/columns"
)

// WriteText writes a report for a terminal, what is broken first.
func WriteText(w io.Writer, r *Report) error {
	b := bufio.NewWriter(w)
	t := columns.Table{Left: 5, Header: []string{"", "limit", "at", "found", "why"}}
	for _, s := range []State{Broken, Unsupported, Held} {
		for _, v := range r.Verdicts {
			if v.State == s {
				t.Rows = append(t.Rows, []string{string(v.State), v.Limit, r.place(v), v.Found, v.Why})
			}
		}
	}
	if err := t.Write(b); err != nil {
		return err
	}
	fmt.Fprintln(b, r.Line())
	return b.Flush()
}

// place is where a verdict belongs: the step, and the run where there are several.
func (r *Report) place(v Verdict) string {
	if len(r.Runs) > 1 && v.Run != "" {
		return v.Run + ", " + v.Step
	}
	return v.Step
}

// Line is the report in one line.
func (r *Report) Line() string {
	text := fmt.Sprintf("%d of %d limits held", r.Count(Held), len(r.Verdicts))
	if n := r.Count(Broken); n > 0 {
		text += fmt.Sprintf(", %d broken", n)
	}
	if n := r.Count(Unsupported); n > 0 {
		text += fmt.Sprintf(", %d not supported by the data", n)
	}
	return text
}

// message is a verdict as a sentence.
func (v Verdict) message() string {
	text := fmt.Sprintf("%s: found %s", v.State, v.Found)
	if v.Why != "" {
		text += ": " + v.Why
	}
	return text
}

// WriteJUnit writes a report as JUnit XML: a suite for each run, and one for what
// is about several; a broken limit is a failure, and one that the data do not
// support an error, since it is no success.
func WriteJUnit(w io.Writer, r *Report) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s<testsuites name=\"queuebench\" tests=\"%d\" failures=\"%d\" errors=\"%d\">\n",
		xml.Header, len(r.Verdicts), r.Count(Broken), r.Count(Unsupported))
	var suites []string
	by := map[string]*Report{}
	for _, v := range r.Verdicts {
		if by[v.Run] == nil {
			by[v.Run] = &Report{}
			suites = append(suites, v.Run)
		}
		by[v.Run].Verdicts = append(by[v.Run].Verdicts, v)
	}
	for _, name := range suites {
		s := by[name]
		if name == "" {
			name = "against " + strings.Join(r.Against, ", ")
		}
		fmt.Fprintf(b, "  <testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"0\">\n",
			escapeXML(name), len(s.Verdicts), s.Count(Broken), s.Count(Unsupported))
		for _, v := range s.Verdicts {
			fmt.Fprintf(b, "    <testcase classname=\"%s\" name=\"%s\">\n", escapeXML(v.Step), escapeXML(v.Limit))
			element := map[State]string{Broken: "failure", Unsupported: "error"}[v.State]
			if element == "" {
				fmt.Fprintf(b, "      <system-out>%s</system-out>\n", escapeXML(v.message()))
			} else {
				fmt.Fprintf(b, "      <%s type=\"%s\" message=\"%s\"></%s>\n", element, escapeXML(string(v.State)), escapeXML(v.message()), element)
			}
			fmt.Fprintf(b, "    </testcase>\n")
		}
		fmt.Fprintf(b, "  </testsuite>\n")
	}
	fmt.Fprintf(b, "</testsuites>\n")
	return b.Flush()
}

// escapeXML is text for an attribute or an element; what XML cannot hold is left
// out.
func escapeXML(text string) string {
	var b strings.Builder
	// A strings.Builder never fails.
	_ = xml.EscapeText(&b, []byte(columns.Clean(text)))
	return b.String()
}

// WriteGitHub writes a report as workflow commands of GitHub Actions: an error for
// each limit that is broken, a warning for each that the data do not support, and
// a notice with the number of those that were held.
func WriteGitHub(w io.Writer, r *Report) error {
	b := bufio.NewWriter(w)
	for _, v := range r.Verdicts {
		command := map[State]string{Broken: "error", Unsupported: "warning"}[v.State]
		if command == "" {
			continue
		}
		fmt.Fprintf(b, "::%s title=%s::%s\n", command, property(fmt.Sprintf("%s at %s", v.Limit, r.place(v))), data(v.message()))
	}
	fmt.Fprintf(b, "::notice title=queuebench::%s\n", data(r.Line()))
	return b.Flush()
}

// data escapes the message of a workflow command, and property that of a
// parameter, as the runner's toolkit does.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(columns.Clean(text))
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(text))
}
