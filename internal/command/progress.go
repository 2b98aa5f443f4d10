package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Line shows what goes on: one line that is written over on a terminal, a plain
// line each few seconds elsewhere. Its methods may be called from several
// goroutines.
type Line struct {
	w     io.Writer
	live  bool
	pause time.Duration // between two lines

	mu    sync.Mutex
	start time.Time
	last  time.Time
	width int // of the live line that stands now
}

// NewLine shows progress on w. Nothing is shown in the first second.
func NewLine(w io.Writer) *Line {
	l := &Line{w: w, live: isTerminal(w), pause: 5 * time.Second, start: time.Now()}
	if l.live {
		l.pause = 100 * time.Millisecond
	}
	return l
}

// Set replaces the line. It does nothing when called again too soon.
func (l *Line) Set(format string, a ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.start) < time.Second || now.Sub(l.last) < l.pause {
		return
	}
	l.last = now
	text := fmt.Sprintf(format, a...)
	if !l.live {
		fmt.Fprintln(l.w, text)
		return
	}
	n := utf8.RuneCountInString(text)
	fmt.Fprintf(l.w, "\r%s%s", text, strings.Repeat(" ", max(0, l.width-n)))
	l.width = n
}

// Print writes a line that stays, in the place of the live one.
func (l *Line) Print(format string, a ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	fmt.Fprintf(l.w, format+"\n", a...)
}

// Close removes the live line.
func (l *Line) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

func (l *Line) clear() {
	if l.width > 0 {
		fmt.Fprintf(l.w, "\r%s\r", strings.Repeat(" ", l.width))
		l.width = 0
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
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
