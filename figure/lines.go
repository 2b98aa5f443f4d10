package figure

import "strings"

// What the element of a path begins and ends with.
const pathHead, pathTail = `<path d="`, `" />`

// joinLines makes one element of straight lines that follow each other in the same
// style, such as a grid or the ticks of an axis. What is drawn stays: dashes begin
// anew with each of them, and translucent lines, which may cross, are left alone.
func joinLines(s string) string {
	lines := strings.Split(s, "\n")
	joined := lines[:0]
	style := ""
	for _, line := range lines {
		data, own := oneLine(line)
		if own != "" && own == style {
			last := &joined[len(joined)-1]
			at := len(*last) - len(style) - len(pathTail)
			*last = (*last)[:at] + data + (*last)[at:]
			continue
		}
		joined, style = append(joined, line), own
	}
	return strings.Join(joined, "\n")
}

// oneLine returns the data of an element that is one straight line, and all that
// stands between these and the element's end; nothing for another one.
func oneLine(line string) (data, style string) {
	rest, ok := strings.CutPrefix(line, pathHead)
	if !ok {
		return "", ""
	}
	if rest, ok = strings.CutSuffix(rest, pathTail); !ok {
		return "", ""
	}
	data, style, ok = strings.Cut(rest, `"`)
	if !ok || !strings.HasPrefix(style, ` style="fill:none;stroke:`) || strings.Contains(style, "opacity") ||
		strings.Trim(data, "Ml,-.0123456789") != "" || strings.Count(data, "l") != 1 || strings.Count(data, "M") != 1 {
		return "", ""
	}
	return data, `"` + style
}
