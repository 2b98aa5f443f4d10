//go:build !js

package analysis

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"queuebench/clock"
	"queuebench/rawlog"
)

// halvesOf takes the log of a run apart into those of two halves, whose clocks
// have these identities, with what each knows of the step. at is the time of the
// consumers' clock at a moment of the producers'.
func halvesOf(t *testing.T, r rows, produce, consume clock.Identity, at func(int64) int64) (src memorySource, p, c *rawlog.Manifest) {
	t.Helper()
	r.received = slices.Clone(r.received)
	for i := range r.received {
		r.received[i].ReceivedNs = at(r.received[i].ReceivedNs)
	}
	src, m := logOf(t, 700, 1000, 2*sec, r)
	delete(src, rawlog.ManifestName)
	half := func(process string, role rawlog.Role, id clock.Identity, has func(rawlog.PartInfo) bool) *rawlog.Manifest {
		h := *m
		h.Process, h.Role, h.Clock = process, role, id
		h.Settings = map[string]string{"groups": "1"}
		h.Steps = slices.Clone(m.Steps)
		s := &h.Steps[0]
		s.Parts = nil
		for _, part := range m.Steps[0].Parts {
			if has(part) {
				part.Clock = id
				s.Parts = append(s.Parts, part)
			}
		}
		return &h
	}
	p = half("produce", rawlog.RoleProduce, produce, func(p rawlog.PartInfo) bool { return p.Table != rawlog.Received.Name })
	c = half("consume", rawlog.RoleConsume, consume, func(p rawlog.PartInfo) bool { return p.Table == rawlog.Received.Name })
	a := m.Steps[0].Accounting
	p.Steps[0].Groups = nil
	p.Steps[0].Accounting = rawlog.Accounting{Scheduled: a.Scheduled, Attempted: a.Attempted, Acked: a.Acked, Failed: a.Failed, Unconfirmed: a.Unconfirmed, Overrun: a.Overrun}
	c.Steps[0].Accounting = rawlog.Accounting{Received: a.Received, Duplicates: a.Duplicates, OutOfOrder: a.OutOfOrder}
	for _, ns := range []*int64{&c.Steps[0].StartedNs, &c.Steps[0].DeadlineNs, &c.StartedNs} {
		*ns = at(*ns)
	}
	src.putHalves(t, p, c)
	return src, p, c
}

func (s memorySource) putHalves(t testing.TB, all ...*rawlog.Manifest) {
	t.Helper()
	for _, m := range all {
		body, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		s[m.Name()] = body
	}
}

func read(t *testing.T, src rawlog.Source) *Digest {
	t.Helper()
	d, err := Read(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// troubled is a step with a loss, a duplicate and an overrun message in it.
func troubled() rows {
	r := oneStep(2000)
	r.received = append(slices.Delete(r.received, 700, 703), r.received[900])
	slices.SortStableFunc(r.received, func(a, b rawlog.ReceivedRow) int { return int(a.ReceivedNs - b.ReceivedNs) })
	last := &r.sent[1999]
	last.Status, last.SentNs, last.AckedNs = rawlog.Overrun, 0, 0
	r.received = slices.DeleteFunc(r.received, func(x rawlog.ReceivedRow) bool { return x.Seq == 1999 })
	return r
}

// Two processes of one boot, with anchors of their own between which the wall
// clock was set by an hour, give the digest of one process exactly.
func TestTwoHalvesOfOneBootAreAsOneRun(t *testing.T) {
	r := troubled()
	whole, _ := logOf(t, 700, 1000, 2*sec, r)
	want := read(t, whole).Steps[0]
	const apart = 3_600_000_000_000
	produce := clock.Identity{Host: "one", BootID: "b", AnchorNs: testStart, MonotonicNs: 1000}
	consume := clock.Identity{Host: "one", BootID: "b", AnchorNs: testStart + 77 + apart, MonotonicNs: 1077}
	src, _, _ := halvesOf(t, r, produce, consume, func(ns int64) int64 { return ns + apart })
	d := read(t, src)
	if got := d.Steps[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("got accounting %+v, want %+v; start %d, %d; offsets %+v, no end to end %q", got.Accounting, want.Accounting, got.StartNs, want.StartNs, got.ClockOffsets, got.NoEndToEnd)
	}
	if !d.Manifest.Complete || len(d.Manifest.Processes) != 2 || d.Manifest.StartedNs != testStart || d.Manifest.Steps[0].DeadlineNs != testStart+int64(32*sec) {
		t.Errorf("%+v", d.Manifest)
	}
	x := Summarize(d, all())
	for _, f := range append(x.Findings, x.Steps[0].Findings...) {
		if slices.Contains([]string{"accounting-breach", "clock-offset", "clocks-not-comparable", "half-missing", "run-incomplete", "clock-skew"}, f.ID) {
			t.Errorf("%+v", f)
		}
	}
	if len(x.Broken()) == 0 || x.Steps[0].Accounting.Lost != 3 || x.Steps[0].Accounting.Duplicates != 1 {
		t.Errorf("broken %+v, %+v", x.Broken(), x.Steps[0].Accounting)
	}
}

// The halves may lie in two places; a run with itself, or with another one, is
// no run.
func TestHalvesInTwoPlaces(t *testing.T) {
	id := clock.Identity{Host: "one", BootID: "b"}
	src, _, c := halvesOf(t, troubled(), id, id, func(ns int64) int64 { return ns })
	there := memorySource{c.Name(): src[c.Name()]}
	for name := range src {
		if strings.HasPrefix(name, "received/") {
			there[name] = src[name]
		}
	}
	here := maps.Clone(src)
	for name := range there {
		delete(here, name)
	}
	if got, want := read(t, rawlog.Joined(here, there)), read(t, src); !reflect.DeepEqual(got, want) {
		t.Errorf("in two places %+v, in one %+v", got.Steps[0].Accounting, want.Steps[0].Accounting)
	}
	if _, err := Read(t.Context(), rawlog.Joined(src, src), Options{}); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a run joined with itself: %v", err)
	}
	other := *c
	other.Run = "run-2"
	there.putHalves(t, &other)
	if _, err := Read(t.Context(), rawlog.Joined(here, there), Options{}); err == nil || !strings.Contains(err.Error(), "run-2") {
		t.Errorf("halves of two runs: %v", err)
	}
}

func TestOneHalfAlone(t *testing.T) {
	id := clock.Identity{Host: "one", BootID: "b"}
	whole, p, c := halvesOf(t, oneStep(2000), id, id, func(ns int64) int64 { return ns })
	without := func(m *rawlog.Manifest) *Digest {
		src := maps.Clone(whole)
		delete(src, m.Name())
		for _, part := range m.Steps[0].Parts {
			delete(src, part.Name)
		}
		return read(t, src)
	}
	x := Summarize(without(c), all()).Steps[0]
	if f := findingOf(x.Findings, "half-missing"); f == nil || !strings.Contains(f.Text, "consume") {
		t.Errorf("%+v", x.Findings)
	}
	if a := x.Accounting; a.Acked != 2000 || a.Lost != 0 || a.Unknown != 0 || latencyOf(x, Publish).N != 2000 || latencyOf(x, SendLag).N != 2000 || latencyOf(x, EndToEnd).N != 0 {
		t.Errorf("%+v, publish %d", a, latencyOf(x, Publish).N)
	}
	x = Summarize(without(p), all()).Steps[0]
	if f := findingOf(x.Findings, "half-missing"); f == nil || !strings.Contains(f.Text, "produce") {
		t.Errorf("%+v", x.Findings)
	}
	if a := x.Accounting; a.Unknown != 2000 || a.Foreign != 0 || latencyOf(x, EndToEnd).N != 0 {
		t.Errorf("%+v", a)
	}
}

// exchanged are measurements of a peer's clock that is peer(t) at t of the own,
// with ways of any length to and fro.
func exchanged(r *rand.Rand, from, to, every int64, peer func(int64) int64) (points []rawlog.OffsetPoint) {
	for at := from; at <= to; at += every {
		there, back := r.Int64N(2_000_000), r.Int64N(2_000_000)
		t1, t4 := at, at+there+back
		stamp := peer(at + there)
		points = append(points, rawlog.OffsetPoint{AtNs: t1 + (t4-t1)/2, OffsetNs: (stamp - t1 + stamp - t4) / 2, ErrorNs: (t4-t1)/2 + 1})
	}
	return points
}

// Whatever the ways of the exchanges took, what is added is right within the
// bound that is told: over one exchange, seen from either side, and over two.
func TestOffsetsAreRightWithinTheirError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a := clock.Identity{Host: "a", BootID: "1", AnchorNs: 5, MonotonicNs: 5}
	b := clock.Identity{Host: "b", BootID: "2", AnchorNs: 6, MonotonicNs: 6}
	between := clock.Identity{Host: "c", BootID: "3", AnchorNs: 7, MonotonicNs: 7}
	for range 300 {
		offset, ppm := r.Int64N(1e12)-5e11, r.Float64()*100-50
		// The time of a, as b has it, and back.
		toA := func(ns int64) int64 { return ns + offset + int64(ppm*1e-6*float64(ns-testStart)) }
		toB := func(ns int64) int64 {
			x := ns - offset
			return x - int64(ppm*1e-6*float64(x-testStart)/(1+ppm*1e-6))
		}
		half := func(ns int64) int64 { return ns + offset/2 } // c's time as b has it
		span := int64(time.Minute)
		from, to := int64(testStart), int64(testStart)+span
		for name, offsets := range map[string][]rawlog.ClockOffset{
			"measured by b": {{Own: b, Peer: a, Points: exchanged(r, from, to, span/6, toA)}},
			"measured by a": {{Own: a, Peer: b, Points: exchanged(r, toA(from), toA(to), span/6, toB)}},
			"over a third": {
				{Own: b, Peer: between, Points: exchanged(r, from, to, span/6, half)},
				{Own: between, Peer: a, Points: exchanged(r, half(from), half(to), span/6, func(ns int64) int64 { return toA(ns - offset/2) })},
			},
			"measured once": {{Own: b, Peer: a, Points: exchanged(r, from, from, span, toA)}},
		} {
			tl := newTimeline([]*rawlog.Manifest{{Process: "produce", Role: rawlog.RoleProduce, Clock: a, ClockOffsets: offsets[:1]}, {Clock: b, Role: rawlog.RoleConsume, ClockOffsets: offsets[1:]}})
			s := tl.shift(b)
			if !s.known || !s.measured {
				t.Fatalf("%s: %+v", name, s)
			}
			o := tl.offset(s, "consumer-0", toA(from), time.Duration(span))
			for range 20 {
				ns := from + r.Int64N(span)
				if wrong := s.on(ns) - toA(ns); wrong > o.ErrorNs || -wrong > o.ErrorNs {
					t.Fatalf("%s: wrong by %d ns, the bound is %d (offset %d, %.1f ppm)", name, wrong, o.ErrorNs, offset, ppm)
				}
			}
			if o.ErrorNs > 15e6 {
				t.Fatalf("%s: a bound of %v says nothing", name, time.Duration(o.ErrorNs))
			}
			if d := o.DriftPPM - ppm; name == "measured by b" && (d > o.DriftErrorPPM || -d > o.DriftErrorPPM) {
				t.Fatalf("drift %.2f ± %.2f ppm, in truth %.2f", o.DriftPPM, o.DriftErrorPPM, ppm)
			}
		}
	}
}

// Clocks of two hosts are subtracted with the offset between them, which is told
// with its error, and not without.
func TestHalvesOnTwoHosts(t *testing.T) {
	produce := clock.Identity{Host: "a", BootID: "1", AnchorNs: testStart, MonotonicNs: 10}
	consume := clock.Identity{Host: "b", BootID: "2", AnchorNs: testStart, MonotonicNs: 99}
	const apart = -7_000_000_000
	at := func(ns int64) int64 { return ns + apart }
	r := oneStep(2000)
	whole, _ := logOf(t, 700, 1000, 2*sec, r)
	want := Summarize(read(t, whole), all()).Steps[0]
	src, _, c := halvesOf(t, r, produce, consume, at)

	x := Summarize(read(t, src), all()).Steps[0]
	if f := findingOf(x.Findings, "clocks-not-comparable"); f == nil || !strings.Contains(f.Text, "a (boot 1)") || !strings.Contains(f.Text, "b (boot 2)") || latencyOf(x, EndToEnd).N != 0 {
		t.Errorf("%+v", x.Findings)
	}
	for _, e := range []struct {
		errorNs  int64
		severity Severity
	}{{1000, Note}, {90_000_000, Warning}} {
		c.ClockOffsets = []rawlog.ClockOffset{{Own: consume, Peer: produce, Points: []rawlog.OffsetPoint{
			{AtNs: at(testStart), OffsetNs: -apart, ErrorNs: e.errorNs}, {AtNs: at(testStart + int64(3*sec)), OffsetNs: -apart, ErrorNs: e.errorNs},
		}}}
		src.putHalves(t, c)
		d := read(t, src)
		x = Summarize(d, all()).Steps[0]
		f := findingOf(x.Findings, "clock-offset")
		if f == nil || f.Severity != e.severity || !strings.Contains(f.Text, "7000.000 ±") && !strings.Contains(f.Text, "7000000.000 ±") {
			t.Errorf("error %d ns: %+v", e.errorNs, f)
		}
		if got, want := latencyOf(x, EndToEnd), latencyOf(want, EndToEnd); !reflect.DeepEqual(got, want) || x.Accounting.Negative != 0 {
			t.Errorf("%+v, want %+v", got, want)
		}
		var file bytes.Buffer
		if err := WriteDigest(&file, d); err != nil {
			t.Fatal(err)
		}
		back, err := ReadDigest(&file)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back.Steps[0].ClockOffsets, d.Steps[0].ClockOffsets) || len(back.Manifest.Processes) != 2 {
			t.Errorf("a digest keeps %+v", back.Steps[0].ClockOffsets)
		}
	}
}
