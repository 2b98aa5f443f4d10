package command

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// screen is what a terminal of so many columns shows of what is written to it,
// for the control sequences that Line uses.
func screen(t *testing.T, columns int, text string) []string {
	t.Helper()
	var rows [100][]rune
	r, c := 0, 0
	control := regexp.MustCompile(`^\x1b\[(\d*)([A-Z])`)
	for text != "" {
		if m := control.FindStringSubmatch(text); m != nil {
			text = text[len(m[0]):]
			switch m[2] {
			case "A":
				n, _ := strconv.Atoi(m[1])
				r -= n
			case "K", "J":
				rows[r] = rows[r][:min(c, len(rows[r]))]
				for i := r + 1; m[2] == "J" && i < len(rows); i++ {
					rows[i] = nil
				}
			default:
				t.Fatalf("a control sequence that is not known: %q", m[0])
			}
			continue
		}
		ch := []rune(text)[0]
		text = text[len(string(ch)):]
		switch ch {
		case '\r':
			c = 0
		case '\n':
			r, c = r+1, 0
		default:
			if c == columns {
				r, c = r+1, 0
			}
			for len(rows[r]) <= c {
				rows[r] = append(rows[r], ' ')
			}
			rows[r][c] = ch
			c++
		}
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// newLine is a line that has been there for long enough to show something.
func newLine(b *bytes.Buffer, columns int) *Line {
	l := &Line{w: b, start: time.Now().Add(-time.Hour)}
	if columns > 0 {
		l.width = func() int { return columns }
	}
	return l
}

func TestLiveLinesAreWrittenOver(t *testing.T) {
	const columns = 20
	var b bytes.Buffer
	l := newLine(&b, columns)
	check := func(what string, want ...string) {
		t.Helper()
		if got := screen(t, columns, b.String()); !slices.Equal(got, want) {
			t.Errorf("%s: the screen shows\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	long := "µ" + strings.Repeat("x", 40)
	l.Show([]string{"one", long, "three"}, "plain")
	check("three lines", "one", "µ"+strings.Repeat("x", columns-2), "three")
	l.Show([]string{"o", "t"}, "plain")
	check("two shorter ones", "o", "t")
	l.Print("a note that is longer than a line")
	check("a note", "a note that is longe", "r than a line")
	l.Show([]string{"1", "2", "3", "4"}, "plain")
	check("below the note", "a note that is longe", "r than a line", "1", "2", "3", "4")
	l.Set("%d", 5)
	check("one line", "a note that is longe", "r than a line", "5")
	l.Close()
	check("the end", "a note that is longe", "r than a line")
	l.Close()
	check("twice", "a note that is longe", "r than a line")
}

func TestElsewhereEachLineIsPlain(t *testing.T) {
	var b bytes.Buffer
	l := newLine(&b, 0)
	for i := range 3 {
		l.Show([]string{"live", "lines"}, fmt.Sprint("plain ", i))
	}
	l.pause = 5 * time.Second
	l.Show([]string{"live"}, "too soon")
	l.Print("note")
	l.Close()
	if got, want := b.String(), "plain 0\nplain 1\nplain 2\nnote\n"; got != want {
		t.Errorf("written %q, want %q", got, want)
	}
}
