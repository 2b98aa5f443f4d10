package gate

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"queuebench/analysis"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/stats"
)

// spec is a run that never ran, a step for each level.
type spec struct {
	run      string
	levels   []float64 // medians, ms
	rate     float64   // of the first step; the others have multiples
	repeats  int
	vary     float64 // between repeats
	perPiece int     // messages in an interval of 500 ms
	lost     int64   // in all
	grow     float64 // over the step, times the level
	ownLag   int64   // ns
	cutOff   bool
	failure  string
	overrun  int64
}

func (s spec) digest(seed uint64) *analysis.Digest {
	const pieces, piece = 60, 500 * time.Millisecond
	r := rand.New(rand.NewPCG(seed, 1))
	if s.rate == 0 {
		s.rate = 200
	}
	if s.perPiece == 0 {
		s.perPiece = int(s.rate / 2)
	}
	s.repeats = max(1, s.repeats)
	if s.run == "" {
		s.run = fmt.Sprintf("run-%d", seed)
	}
	d := &analysis.Digest{Manifest: rawlog.Manifest{Schema: rawlog.SchemaVersion, Run: s.run, Complete: !s.cutOff,
		Queue: queue.Info{Kind: "test", Partitions: 1}}}
	for i, level := range s.levels {
		for repeat := range s.repeats {
			rate := s.rate * float64(i+1)
			st := analysis.StepDigest{Step: i, Repeat: repeat, Rate: rate, Settings: map[string]string{}, Complete: !s.cutOff, Failure: s.failure, Duration: pieces * piece, Interval: piece}
			at := 1 + s.vary*r.NormFloat64()
			var main, publish, lag, own stats.Counter
			for k := range pieces {
				iv := analysis.Interval{Start: time.Duration(k) * piece, End: time.Duration(k+1) * piece, Scheduled: int64(s.perPiece)}
				for range s.perPiece {
					v := int64(level * 1e6 * at * (0.9 + 0.2*r.Float64()) * (1 + s.grow*float64(k)/pieces))
					_, _, _ = main.Record(v), publish.Record(v/2), lag.Record(1000+s.ownLag)
					_ = own.Record(s.ownLag)
				}
				iv.Latency[analysis.EndToEnd], iv.Latency[analysis.Publish], iv.Latency[analysis.SendLag] = main.Take(), publish.Take(), lag.Take()
				iv.OwnLag = own.Take()
				if k == pieces/2 {
					iv.Infinite[analysis.EndToEnd] = s.lost
				}
				st.Intervals = append(st.Intervals, iv)
			}
			n := int64(pieces * s.perPiece)
			a := &st.Accounting
			a.Scheduled, a.Attempted, a.Acked, a.Received, a.RecordsUsed = n+s.lost+s.overrun, n+s.lost, n+s.lost, n, n
			a.Lost, a.Overrun = s.lost, s.overrun
			for range pieces / 2 {
				st.ReceivedPerSecond = append(st.ReceivedPerSecond, int64(2*s.perPiece))
			}
			d.Steps = append(d.Steps, st)
			d.Manifest.Steps = append(d.Manifest.Steps, rawlog.Step{Step: i, Repeat: repeat, Rate: rate, DurationNs: int64(st.Duration), DeadlineNs: int64(st.Duration) + 5e9, Groups: []string{"g"}, Complete: !s.cutOff,
				Accounting: rawlog.Accounting{Scheduled: a.Scheduled, Attempted: a.Attempted, Acked: a.Acked, Received: a.Received, Lost: a.Lost, Overrun: a.Overrun}})
		}
	}
	return d
}

func uncut() analysis.View { none := time.Duration(0); return analysis.View{Warmup: &none} }

func slos(t *testing.T, texts ...string) (out []SLO) {
	t.Helper()
	for _, text := range texts {
		s, err := ParseSLO(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

func TestLimitsAreJudged(t *testing.T) {
	steady := spec{levels: []float64{50}}
	for _, c := range []struct {
		s     spec
		limit string
		want  string // the state, and what is in the reason
	}{
		{steady, "p99<60ms", "held"},
		{steady, "p99<50ms", "broken"},
		{steady, "p50>60ms", "broken"},
		{steady, "publish.p99<28ms", "held"},
		{steady, "publish.p99<25ms", "broken"},
		{steady, "max<56ms", "held"},
		{steady, "mean<49ms", "broken"},
		{steady, "min>=45ms", "held"},
		{steady, "p99.9<60ms", "held"},
		{steady, "p99.99<60ms", "not supported too few messages"},
		{steady, "poll.p50<1s", "not supported no message with a latency poll"},
		{steady, "lost==0", "held"},
		{steady, "overrun<=0", "held"},
		{steady, "received_per_s>=199", "held"},
		{steady, "received_per_s>=99%", "held"},
		{steady, "received_per_s>200", "broken"},
		{steady, "cov<1%", "held"},
		{steady, "p99@200<60ms", "held"},
		{steady, "p99@201<60ms", "not supported of this rate, but of 200"},
		{spec{levels: []float64{50}, lost: 3}, "lost==0", "broken"},
		{spec{levels: []float64{50}, lost: 3}, "lost<0.1%", "held"},
		{spec{levels: []float64{50}, lost: 3}, "max<1h", "broken"},
		{spec{levels: []float64{50}, lost: 3}, "mean<1h", "broken"},
		{spec{levels: []float64{50}, lost: 3}, "min<1h", "held"},
		{spec{levels: []float64{50}, lost: 300}, "p99<1h", "broken"},
		{spec{levels: []float64{50}, overrun: 5}, "overrun==0", "broken"},
		// A latency that grows is above its limit, or would have been.
		{spec{levels: []float64{50}, grow: 2}, "p99<1s", "not supported not-keeping-up"},
		{spec{levels: []float64{50}, grow: 2}, "p99<60ms", "broken not-keeping-up"},
		{spec{levels: []float64{50}, grow: 2}, "lost==0", "held"},
		{spec{levels: []float64{50}, ownLag: 20e6}, "p99<60ms", "not supported runner-limited"},
		{spec{levels: []float64{50}, ownLag: 20e6}, "p99<40ms", "not supported runner-limited"},
		{spec{levels: []float64{50}, ownLag: 20e6}, "send_lag.p99<10ms", "broken"},
		{spec{levels: []float64{50}, ownLag: 20e6}, "duplicates==0", "held"},
		{spec{levels: []float64{50}, ownLag: 20e6}, "received_per_s>1000", "not supported runner-limited"},
		{spec{levels: []float64{50}, cutOff: true}, "lost==0", "not supported incomplete"},
		{spec{levels: []float64{50}, cutOff: true, lost: 1}, "lost==0", "broken"},
		{spec{levels: []float64{50}, cutOff: true}, "p99<60ms", "not supported incomplete"},
		{spec{levels: []float64{50}, cutOff: true}, "received_per_s>1", "not supported incomplete"},
		{spec{levels: []float64{50}, failure: "no space left"}, "p50<60ms", "not supported no space left"},
		{spec{levels: []float64{50}, perPiece: 2}, "p99<60ms", "not supported too few messages"},
		{spec{}, "p99<60ms", "not supported no step"},
	} {
		r, err := Check([]*analysis.Digest{c.s.digest(3)}, nil, uncut(), Limits{SLOs: slos(t, c.limit)})
		if err != nil || len(r.Verdicts) != 1 {
			t.Fatalf("%s: %+v, %v", c.limit, r, err)
		}
		v := r.Verdicts[0]
		state, why, _ := strings.Cut(strings.Replace(c.want, "not supported", "not-supported", 1), " ")
		if string(v.State) != strings.Replace(state, "-", " ", 1) || !strings.Contains(v.Why, why) || why == "" && v.Why != "" || r.State != v.State {
			t.Errorf("%+v, %s: %+v, want %s", c.s, c.limit, v, c.want)
		}
	}
}

func TestEveryStepIsJudged(t *testing.T) {
	d := spec{levels: []float64{50, 80}, repeats: 2}.digest(1)
	r, err := Check([]*analysis.Digest{d, spec{levels: []float64{50}}.digest(2)}, nil, uncut(), Limits{SLOs: slos(t, "p99<60ms", "p99@400<100ms", "lost==0")})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Verdicts) != 4+2+4+1+1+1 || r.Count(Broken) != 2 || r.Count(Unsupported) != 1 || r.State != Broken {
		t.Errorf("%d verdicts: %+v", len(r.Verdicts), r)
	}
	if v := r.Verdicts[2]; v.Step != "400 msg/s, repeat 0" || v.Limit != "p99<60ms" || v.State != Broken {
		t.Errorf("%+v", v)
	}
}

func TestRegressions(t *testing.T) {
	made := map[string][]*analysis.Digest{} // many cases have the same sides
	side := func(runs int, level, vary float64, seed uint64) []*analysis.Digest {
		key := fmt.Sprint(runs, level, vary, seed)
		if made[key] == nil {
			for i := range runs {
				made[key] = append(made[key], spec{levels: []float64{level}, vary: vary}.digest(seed+uint64(i)))
			}
		}
		return made[key]
	}
	repeats := []*analysis.Digest{spec{levels: []float64{50}, repeats: 6, vary: 0.02}.digest(50)}
	var grown []*analysis.Digest
	for i := range uint64(6) {
		grown = append(grown, spec{levels: []float64{100}, grow: 2, vary: 0.02}.digest(60+i))
	}
	for name, c := range map[string]struct {
		base, runs []*analysis.Digest
		limit      string
		within     bool
		want       string
	}{
		"alike":                   {side(6, 50, 0.02, 1), side(6, 50, 0.02, 11), "p99=10%", false, "held"},
		"a fifth worse":           {side(6, 50, 0.02, 1), side(6, 60, 0.02, 11), "p99=10%", false, "broken"},
		"a fifth better":          {side(6, 60, 0.02, 1), side(6, 50, 0.02, 11), "p99=0%", false, "held"},
		"a tenth worse":           {side(6, 50, 0.03, 1), side(6, 55, 0.03, 11), "p99=10%", false, "not supported the interval holds the limit"},
		"runs that vary much":     {side(6, 50, 0.3, 1), side(6, 50, 0.3, 11), "p99=10%", false, "not supported the interval holds the limit"},
		"too few":                 {side(3, 50, 0.02, 1), side(3, 80, 0.02, 11), "p99=10%", false, "not supported 3+3 runs are too few"},
		"repeats of one run":      {repeats, side(6, 60, 0.02, 11), "p99=10%", false, "broken"},
		"one run each":            {side(1, 50, 0, 1), side(1, 50, 0, 12), "p99=10%", false, "not supported one run of each"},
		"one run each, within":    {side(1, 50, 0, 1), side(1, 50, 0, 12), "p99=10%", true, "held within these two runs only"},
		"one worse, within":       {side(1, 50, 0, 1), side(1, 60, 0, 11), "p99=10%", true, "broken within these two runs only"},
		"publish":                 {side(6, 50, 0.02, 1), side(6, 60, 0.02, 11), "publish.p50=10%", false, "broken"},
		"another rate":            {side(6, 50, 0.02, 1), side(6, 60, 0.02, 11), "p50@7=10%", false, "not supported no load of this rate"},
		"no rate in common":       {side(6, 50, 0.02, 1), []*analysis.Digest{spec{levels: []float64{50}, rate: 77}.digest(1)}, "p50=10%", false, "not supported nothing to compare"},
		"a latency that grows":    {side(6, 50, 0.02, 1), grown, "p50=10%", false, "broken not-keeping-up"},
		"a base that was growing": {grown, side(6, 50, 0.02, 1), "p50=10%", false, "not supported base: the queue does not keep up"},
	} {
		g, err := ParseRegression(c.limit)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Check(c.runs, c.base, uncut(), Limits{Regressions: []Regression{g}, WithinRun: c.within})
		if err != nil || len(r.Verdicts) != 1 {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		v := r.Verdicts[0]
		if got := strings.TrimSpace(string(v.State) + " " + v.Why); !strings.HasPrefix(got, strings.SplitN(c.want, " ", 2)[0]) || !strings.Contains(got, strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(c.want, "not supported "), "broken "), "held ")) {
			t.Errorf("%s: %+v, want %s", name, v, c.want)
		}
	}
	if _, err := Check(repeats, nil, uncut(), Limits{Regressions: []Regression{{}}}); !errors.Is(err, ErrNoBase) {
		t.Errorf("without a base: %v", err)
	}
}

const hostile = "a\"b<c>&'d]]>\n::error title=x::y\r\x00\x1b[31m%0A,:\u202e\xff"

func hostileReport(t *testing.T) *Report {
	t.Helper()
	d := spec{run: hostile, levels: []float64{50}, failure: hostile}.digest(1)
	d.Steps[0].Settings = map[string]string{"name": hostile}
	r, err := Check([]*analysis.Digest{d, spec{levels: []float64{50}, lost: 2}.digest(2)}, nil, uncut(), Limits{SLOs: slos(t, "p99<60ms", "lost==0")})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestJUnitHoldsWhateverNamesThereAre(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJUnit(&out, hostileReport(t)); err != nil {
		t.Fatal(err)
	}
	type result struct {
		Message string `xml:"message,attr"`
	}
	var suites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Class   string  `xml:"classname,attr"`
				Name    string  `xml:"name,attr"`
				Failure *result `xml:"failure"`
				Error   *result `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(out.Bytes(), &suites); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if suites.Tests != 4 || suites.Failures != 1 || suites.Errors != 2 || len(suites.Suites) != 2 || len(suites.Suites[0].Cases) != 2 {
		t.Fatalf("%+v", suites)
	}
	first := suites.Suites[0]
	if !strings.HasPrefix(first.Name, `a"b<c>&'d]]> ::error title=x::y `) || strings.ContainsAny(first.Name, "\x00\x1b\n") {
		t.Errorf("the suite is %q", first.Name)
	}
	if c := first.Cases[0]; c.Name != "p99<60ms" || c.Error == nil || !strings.Contains(c.Error.Message, "the step failed") {
		t.Errorf("%+v", c)
	}
	if c := suites.Suites[1].Cases[1]; c.Failure == nil || c.Failure.Message != "broken: found 2" {
		t.Errorf("%+v", c)
	}
}

func TestAnnotationsHoldWhateverNamesThereAre(t *testing.T) {
	var out, text bytes.Buffer
	r := hostileReport(t)
	if err := errors.Join(WriteGitHub(&out, r), WriteText(&text, r)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 4 || lines[3] != "::notice title=queuebench::1 of 4 limits held, 1 broken, 2 not supported by the data" {
		t.Fatalf("%q", lines)
	}
	command := regexp.MustCompile(`^::(error|warning) title=[^:,\x00-\x1f]+::[^\x00-\x1f]+$`)
	for _, l := range lines[:3] {
		if !command.MatchString(l) || strings.Contains(l, "%0A,") && !strings.Contains(l, "%250A") {
			t.Errorf("%q", l)
		}
	}
	for line := range strings.Lines(text.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\r\x1b\x00") {
			t.Errorf("in the text: %q", line)
		}
	}
}

func TestReportsSurviveJSON(t *testing.T) {
	r := hostileReport(t)
	var written [3][]byte
	for i := range written {
		var err error
		if written[i], err = json.Marshal(r); err != nil {
			t.Fatal(err)
		}
		r = &Report{}
		if err := json.Unmarshal(written[i], r); err != nil {
			t.Fatal(err)
		}
	}
	// The first time what is no UTF-8 is replaced.
	if !bytes.Equal(written[1], written[2]) || len(r.Verdicts) != 4 {
		t.Errorf("%s\n%s", written[1], written[2])
	}
}
