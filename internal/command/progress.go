package command

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// Line shows what goes on: a few lines that are written over on a terminal, one
// plain line each five seconds elsewhere. Its methods may be called from several
// goroutines.
type Line struct {
	w     io.Writer
	width func() int    // of the terminal, in columns; nil where there is none
	pause time.Duration // between two showings

	mu     sync.Mutex
	start  time.Time
	last   time.Time
	height int // of the live lines that stand now
}

// NewLine shows progress on w. Nothing is shown in the first second.
func NewLine(w io.Writer) *Line {
	l := &Line{w: w, pause: 5 * time.Second, start: time.Now()}
	if f, ok := w.(*os.File); ok && isTerminal(f) {
		l.pause = 100 * time.Millisecond
		l.width = func() int { return columns(f) }
	}
	return l
}

// Set replaces the line. It does nothing when called again too soon.
func (l *Line) Set(format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	l.Show([]string{text}, text)
}

// Show is Set with lines for a terminal, which are cut at its edge, and a text
// on one line for what is none.
func (l *Line) Show(live []string, plain string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.start) < time.Second || now.Sub(l.last) < l.pause {
		return
	}
	l.last = now
	if l.width == nil {
		fmt.Fprintln(l.w, plain)
		return
	}
	var b strings.Builder
	b.WriteString(l.home())
	width := l.width()
	for i, line := range live {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(cut(line, width-1))
		b.WriteString(clearLine)
	}
	b.WriteString(clearBelow)
	l.height = len(live)
	io.WriteString(l.w, b.String())
}

// What every terminal of the last decades understands (ECMA-48): cursor up,
// clear to the end of the line, clear to the end of the screen.
const (
	cursorUp   = "\x1b[%dA"
	clearLine  = "\x1b[K"
	clearBelow = "\x1b[J"
)

// home goes to the beginning of the live lines.
func (l *Line) home() string {
	if l.height > 1 {
		return fmt.Sprintf("\r"+cursorUp, l.height-1)
	}
	return "\r"
}

// cut leaves the first n characters, each of which takes a column.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:max(0, n)])
}

// Print writes a line that stays, in the place of the live ones.
func (l *Line) Print(format string, a ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	fmt.Fprintf(l.w, format+"\n", a...)
}

// Close removes the live lines.
func (l *Line) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

func (l *Line) clear() {
	if l.height > 0 {
		io.WriteString(l.w, l.home()+clearBelow)
		l.height = 0
	}
}

// isTerminal leaves out the consoles of Windows, which show control sequences
// as text unless they are asked not to.
func isTerminal(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" && runtime.GOOS != "windows"
}

// columns is the width of a terminal, 80 where it does not tell.
func columns(f *os.File) int {
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// While runs do and shows how long it has taken, from the first second on.
func While(w io.Writer, text string, do func() error) error {
	line := NewLine(w)
	defer line.Close()
	done := make(chan error, 1)
	go func() { done <- do() }()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			line.Set("%s … %v", text, time.Since(line.start).Round(time.Second))
		}
	}
}
