// Package reliability keeps what was tried against the programs, how often, and
// what happened: the rows of docs/reliability.md.
//
// A test adds a row like this, in the test function itself and before anything can
// fail:
//
//	row := reliability.Try(t, reliability.Row{
//		ID:     "kill/consumer", // the same in each run of this test
//		What:   "`kill -9` of a consuming half",
//		Holds:  "nothing lost, nothing recorded twice",
//		Effort: 20, Often: "20 times",
//	})
//	…
//	row.Happened = fmt.Sprintf("%d messages, 0 lost", n)
//
// When the test ends, the row is appended, as a line of JSON, to the file that the
// environment's RELIABILITY names (an absolute path); without that variable nothing
// is written. `make reliability` runs all tests that call Try and stand behind no
// build tag, and then writes the document; targets that take long (make faults, make
// fuzz) set the variable too, and `make reliability RUN=` writes the document alone.
// Subtests may have rows of their own. IDs that begin with a word and a slash for
// which the document has marks of its own, such as fuzz/, are a table there.
//
// It refuses to write of a test that was skipped, and to let a short pass take the
// place of a longer one, or of a longer failure: see Chosen.
package reliability

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/mem"
)

// Variable names the file of results in the environment.
const Variable = "RELIABILITY"

// Row is one thing that was tried.
type Row struct {
	ID   string `json:"id"`
	What string `json:"what"` // was done, Markdown
	// Often is for how long, how many times, at which rate. Effort is the same as a
	// number, by which runs of one ID are compared: seconds or times.
	Often    string  `json:"often"`
	Effort   float64 `json:"effort"`
	Holds    string  `json:"holds,omitempty"` // has to
	Happened string  `json:"happened"`
	Where    string  `json:"where"` // empty: the test
	Failed   bool    `json:"failed,omitempty"`

	// Of these, what is empty is filled in by Append.
	At      time.Time `json:"at"`
	Commit  string    `json:"commit"`
	Machine string    `json:"machine"`
}

// Try appends the row when the test has ended, as its pointer then stands.
func Try(t testing.TB, row Row) *Row {
	t.Helper()
	if row.ID == "" || row.What == "" {
		t.Errorf("a row of %s has no ID or does not say what is tried", Variable)
	}
	if pc, _, _, ok := runtime.Caller(1); ok && row.Where == "" {
		test, _, _ := strings.Cut(t.Name(), "/")
		row.Where = "`" + test + "` in `" + roomOf(runtime.FuncForPC(pc).Name()) + "`"
	}
	file := os.Getenv(Variable)
	if file == "" {
		return &row
	}
	t.Cleanup(func() {
		if t.Skipped() {
			return
		}
		row.Failed = row.Failed || t.Failed()
		if err := Append(file, row); err != nil {
			t.Error(err)
		}
	})
	return &row
}

// roomOf is the room of a function of the module, or of a test of it.
func roomOf(function string) string {
	_, room, _ := strings.Cut(function, "/")
	if at := strings.LastIndexByte(room, '/'); at >= 0 {
		name, _, _ := strings.Cut(room[at:], ".")
		room = room[:at] + name
	} else {
		room, _, _ = strings.Cut(room, ".")
	}
	return strings.TrimSuffix(room, "_test")
}

// Append adds a row to a file of results, with the time, the commit and the machine
// where it has none. Several processes may append at once.
func Append(file string, row Row) error {
	if !filepath.IsAbs(file) {
		return fmt.Errorf("%s=%s: give the whole path, since tests run in the folders of their rooms", Variable, file)
	}
	if row.At.IsZero() {
		row.At = time.Now().UTC().Truncate(time.Second)
	}
	row.Commit, row.Machine = cmp.Or(row.Commit, commit(filepath.Dir(file))), cmp.Or(row.Machine, machine())
	line, err := encode(row)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}

// encode is a line, whose text people read and compare.
func encode(row Row) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(row)
	return out.Bytes(), err
}

// Read reads a file of results. One that is not there has none.
func Read(file string) ([]Row, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var rows []Row
	n := 0
	for line := range bytes.Lines(text) {
		n++
		var r Row
		if err := json.Unmarshal(line, &r); err != nil || r.ID == "" {
			return nil, fmt.Errorf("%s: line %d is no row: %w", file, n, cmp.Or(err, errors.New("it has no id")))
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// Write replaces a file of results.
func Write(file string, rows []Row) error {
	var out bytes.Buffer
	for _, r := range rows {
		line, err := encode(r)
		if err != nil {
			return err
		}
		out.Write(line)
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

// Chosen is one row of each ID, in the order of the IDs. A failure takes the place of
// all that was before it; a pass, of what was tried with no more effort.
func Chosen(rows []Row) []Row {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Or(strings.Compare(a.ID, b.ID), a.At.Compare(b.At)) })
	var out []Row
	for _, r := range rows {
		switch last := len(out) - 1; {
		case last < 0 || out[last].ID != r.ID:
			out = append(out, r)
		case r.Failed || r.Effort >= out[last].Effort:
			out[last] = r
		}
	}
	return out
}

// commit is what stands in dir's folder of Git.
func commit(dir string) string {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	id, err := git("rev-parse", "--short=10", "HEAD")
	if err != nil {
		return "not known"
	}
	// The results themselves change nothing.
	if changed, err := git("status", "--porcelain", "--untracked-files=no", "--", ":/", ":(exclude,top)docs/reliability.*"); err != nil || changed != "" {
		id += " with changes"
	}
	return id
}

// machine is what the program runs on.
func machine() string {
	text := fmt.Sprintf("%d processors", runtime.NumCPU())
	if infos, err := cpu.Info(); err == nil && len(infos) > 0 {
		text += " (" + infos[0].ModelName + ")"
	}
	if m, err := mem.VirtualMemory(); err == nil {
		text += fmt.Sprintf(", %.0f GB", float64(m.Total)/1e9)
	}
	return fmt.Sprintf("%s, %s/%s, %s", text, runtime.GOOS, runtime.GOARCH, runtime.Version())
}
