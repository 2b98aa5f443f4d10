package analysis

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"queuebench/internal/inflate"
	"queuebench/stats"
	"queuebench/stats/hdrlog"
)

// WriteDigest writes d in the form that DigestSchema describes. Nothing is
// lost: ReadDigest returns an equal value. Its histograms are not compressed one
// by one: it is to be compressed as a whole, as PackDigest does.
func WriteDigest(w io.Writer, d *Digest) error {
	if slices.ContainsFunc(d.Steps, func(s StepDigest) bool { return s.EndToEndOnly }) {
		return fmt.Errorf("the digest of run %s: only end-to-end latencies were read: read all of the log", d.Manifest.Run)
	}
	buf := bufio.NewWriterSize(w, 64<<10)
	log := hdrlog.NewWriter(buf)
	log.Store()
	if err := writeDigest(log, d); err != nil {
		return fmt.Errorf("writing the digest of run %s: %w", d.Manifest.Run, err)
	}
	if err := buf.Flush(); err != nil {
		return fmt.Errorf("writing the digest of run %s: %w", d.Manifest.Run, err)
	}
	return nil
}

func writeDigest(log *hdrlog.Writer, d *Digest) error {
	// Times in the lines are relative to the earliest start, in whole
	// milliseconds, as the format has them.
	base := d.Manifest.StartedNs
	for i := range d.Steps {
		if base <= 0 || d.Steps[i].StartNs < base {
			base = max(0, d.Steps[i].StartNs)
		}
	}
	base = max(0, base) / 1e6 * 1e6
	if err := log.Header(base); err != nil {
		return err
	}
	if err := comment(log, "manifest", withoutParts(d.Manifest)); err != nil {
		return err
	}
	for i := range d.References {
		if err := comment(log, "reference", &d.References[i]); err != nil {
			return err
		}
	}
	lines := 0
	for i := range d.Steps {
		s := &d.Steps[i]
		r, err := newStepRecord(s)
		if err != nil {
			return fmt.Errorf("step %d, repeat %d: %w", s.Step, s.Repeat, err)
		}
		if err := comment(log, "step", r); err != nil {
			return err
		}
		var tags [numSeries]string
		for k := range tags {
			tags[k] = s.tag(k)
		}
		write := func(h *stats.Compact, tag string, from, to time.Duration) error {
			l := hdrlog.Line{StartNs: max(0, s.StartNs-base) + int64(from), LengthNs: int64(to - from)}
			neg, pos := splitSigns(h.Buckets)
			for _, half := range []struct {
				buckets []stats.Bucket
				tag     string
			}{{neg, tag + tagNegative}, {pos, tag}} {
				if len(half.buckets) == 0 {
					continue
				}
				l.Tag, l.Buckets = half.tag, half.buckets
				if err := log.Histogram(l); err != nil {
					return err
				}
				lines++
			}
			return nil
		}
		for j := range s.Intervals {
			iv := &s.Intervals[j]
			for k := range numSeries {
				if k == ownSeries && r.Intervals.OwnIsLag[j] {
					continue
				}
				if err := write(iv.series(k), tags[k], iv.Start, iv.End); err != nil {
					return err
				}
			}
		}
		b := &s.Breakdown
		for j := range b.Shares {
			for k := range NumKinds {
				if err := write(&b.Shares[j].Latency[k], s.shareTag(&b.Shares[j], k), b.From, b.To); err != nil {
					return err
				}
			}
		}
	}
	return comment(log, "end", digestEnd{Steps: len(d.Steps), Lines: lines})
}

func comment(log *hdrlog.Writer, word string, v any) error {
	text, err := marshalComment(word, v)
	if err != nil {
		return err
	}
	return log.Comment(text)
}

// splitSigns returns the magnitudes of the negative buckets, ascending, and the
// other buckets.
func splitSigns(b []stats.Bucket) (neg, pos []stats.Bucket) {
	i, _ := slices.BinarySearchFunc(b, 0, func(b stats.Bucket, _ int) int {
		if b.Index < 0 {
			return -1
		}
		return 1
	})
	for j := i - 1; j >= 0; j-- {
		neg = append(neg, stats.Bucket{Index: -1 - b[j].Index, Count: b[j].Count})
	}
	return neg, b[i:]
}

// maxDigestBytes is the most that a digest decompresses to.
const maxDigestBytes = 1 << 30

// ReadDigest reads what WriteDigest writes, also gzipped. The error is
// ErrNotDigest for anything else, and says where a digest is damaged or cut
// short.
func ReadDigest(r io.Reader) (*Digest, error) {
	packed, zipped := inflate.NewCounter(r), false
	br := bufio.NewReaderSize(packed, 64<<10)
	if magic, _ := br.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		packed, zipped = inflate.NewCounter(br), true
		z, err := gzip.NewReader(packed)
		if err != nil {
			return nil, fmt.Errorf("reading a digest: %w", err)
		}
		defer z.Close()
		br = bufio.NewReaderSize(inflate.Guard(z, packed, maxDigestBytes), 64<<10)
	}
	p := digestParser{log: hdrlog.NewReader(br), packed: packed, zipped: zipped}
	for !p.ended {
		if err := p.next(); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
				err = p.cutShort()
			}
			return nil, fmt.Errorf("reading a digest: %w", err)
		}
	}
	p.d.adopt()
	return &p.d, nil
}

type digestParser struct {
	log     *hdrlog.Reader
	packed  *inflate.Counter // of the file
	zipped  bool
	d       Digest
	started bool
	ended   bool
	lines   int
	held    int64 // bytes, see hold
	// The lines that the current step still owes.
	step *StepDigest
	own  []bool
	at   int // interval, and beyond them share
	k    int // series
	sign int // 0: its negative line comes next, 1: the other one
}

func (p *digestParser) cutShort() error {
	if !p.started {
		return fmt.Errorf("%w: it has no manifest line", ErrNotDigest)
	}
	return fmt.Errorf("it ends after line %d, before its end mark: it was cut short", p.log.LineNumber()-1)
}

func (p *digestParser) next() error {
	text, line, err := p.log.Next()
	if err != nil {
		if !p.started && err != io.EOF {
			return fmt.Errorf("%w: %v", ErrNotDigest, err)
		}
		return err
	}
	if line == nil {
		if err := p.comment(text); err != nil {
			return fmt.Errorf("line %d: %w", p.log.LineNumber(), err)
		}
		return nil
	}
	if !p.started {
		return fmt.Errorf("%w: a histogram log without a manifest line", ErrNotDigest)
	}
	if err := p.histogram(line); err != nil {
		return fmt.Errorf("line %d: %w", p.log.LineNumber(), err)
	}
	return nil
}

func (p *digestParser) comment(text []byte) error {
	rest, ok := bytes.CutPrefix(text, []byte("["+digestPrefix))
	if !ok {
		return nil
	}
	version, rest, _ := bytes.Cut(rest, []byte(" "))
	if string(version) != strings.TrimPrefix(DigestSchema, digestPrefix) {
		return fmt.Errorf("a digest of version %q, this program reads version 1: use a newer analyze", version)
	}
	word, body, _ := bytes.Cut(rest, []byte(" "))
	body, ok = bytes.CutSuffix(body, []byte("]"))
	if !ok {
		return fmt.Errorf("the %s line is cut short", word)
	}
	if err := p.hold(jsonBytes(body)); err != nil {
		return err
	}
	defer p.give(jsonBytes(body)) // what stays of it is counted below
	if !p.started && string(word) != "manifest" {
		return fmt.Errorf("%w: the first line is %q, not the manifest", ErrNotDigest, word)
	}
	switch string(word) {
	case "manifest":
		if p.started {
			return errors.New("a second manifest")
		}
		p.started = true
		if err := json.Unmarshal(body, &p.d.Manifest); err != nil {
			return fmt.Errorf("manifest: %w", err)
		}
		return p.hold(jsonBytes(body))
	case "reference":
		var r Reference
		if err := json.Unmarshal(body, &r); err != nil {
			return fmt.Errorf("reference: %w", err)
		}
		if len(p.d.References) == maxReferences {
			return fmt.Errorf("more than %d references", maxReferences)
		}
		p.d.References = append(p.d.References, r)
		return p.hold(jsonBytes(body))
	case "step":
		if err := p.finishStep(); err != nil {
			return err
		}
		var r stepRecord
		if err := json.Unmarshal(body, &r); err != nil {
			return fmt.Errorf("step: %w", err)
		}
		if err := p.hold(r.bytes()); err != nil {
			return err
		}
		s, err := r.stepDigest()
		if err != nil {
			return fmt.Errorf("step %d, repeat %d: %w", r.Step, r.Repeat, err)
		}
		p.d.Steps = append(p.d.Steps, *s)
		p.step, p.own = &p.d.Steps[len(p.d.Steps)-1], r.Intervals.OwnIsLag
		p.at, p.k, p.sign = 0, 0, 0
		return nil
	case "end":
		if err := p.finishStep(); err != nil {
			return err
		}
		var e digestEnd
		if err := json.Unmarshal(body, &e); err != nil {
			return fmt.Errorf("end: %w", err)
		}
		if e.Steps != len(p.d.Steps) || e.Lines != p.lines {
			return fmt.Errorf("%d steps and %d histograms where %d and %d are announced", len(p.d.Steps), p.lines, e.Steps, e.Lines)
		}
		p.ended = true
		return nil
	}
	return fmt.Errorf("unknown word %q", word)
}

// due moves on to the histogram whose line comes next and returns it, nil when
// the step owes none.
func (p *digestParser) due() *stats.Compact {
	if p.step == nil {
		return nil
	}
	intervals := len(p.step.Intervals)
	for p.at < intervals+len(p.step.Breakdown.Shares) {
		var h *stats.Compact
		kinds := numSeries
		if p.at < intervals {
			h = p.step.Intervals[p.at].series(p.k)
		} else {
			h, kinds = &p.step.Breakdown.Shares[p.at-intervals].Latency[p.k], int(NumKinds)
		}
		if h.N > 0 {
			if p.sign == 0 && h.Min < 0 {
				return h
			}
			p.sign = 1
			if h.Max >= 0 && (len(h.Buckets) == 0 || h.Buckets[len(h.Buckets)-1].Index < 0) {
				return h
			}
		}
		p.sign = 0
		if p.k++; p.k == kinds {
			p.at, p.k = p.at+1, 0
		}
	}
	return nil
}

// dueTag is the tag of what due returned, without its sign.
func (p *digestParser) dueTag() string {
	if i := p.at - len(p.step.Intervals); i >= 0 {
		return p.step.shareTag(&p.step.Breakdown.Shares[i], Kind(p.k))
	}
	return p.step.tag(p.k)
}

func (p *digestParser) histogram(l *hdrlog.Line) error {
	h := p.due()
	if h == nil {
		return fmt.Errorf("a histogram %q that the step did not announce", l.Tag)
	}
	tag := p.dueTag()
	if p.sign == 0 {
		tag += tagNegative
	}
	if l.Tag != tag {
		return fmt.Errorf("the histogram %q where %q is due", l.Tag, tag)
	}
	if err := p.hold(int64(len(l.Buckets)) * bucketBytes); err != nil {
		return err
	}
	if len(l.Buckets) == 0 {
		return fmt.Errorf("%q is empty", l.Tag)
	}
	if p.sign == 0 {
		for i := len(l.Buckets) - 1; i >= 0; i-- {
			h.Buckets = append(h.Buckets, stats.Bucket{Index: -1 - l.Buckets[i].Index, Count: l.Buckets[i].Count})
		}
		p.sign = 1
	} else {
		h.Buckets = append(h.Buckets, l.Buckets...)
	}
	p.lines++
	return nil
}

// finishStep checks that the step before has all of its histograms.
func (p *digestParser) finishStep() error {
	if p.step == nil {
		return nil
	}
	if p.due() != nil {
		return fmt.Errorf("the histogram %q is missing", p.dueTag())
	}
	for i := range p.step.Intervals {
		iv := &p.step.Intervals[i]
		for k := range numSeries {
			if err := iv.series(k).Check(); err != nil {
				return fmt.Errorf("%s of interval %d: %w", seriesName(k), i, err)
			}
		}
		if len(p.own) > 0 && p.own[i] {
			iv.OwnLag = iv.Latency[SendLag]
		}
	}
	for i := range p.step.Breakdown.Shares {
		x := &p.step.Breakdown.Shares[i]
		for k := range x.Latency {
			if err := x.Latency[k].Check(); err != nil {
				return fmt.Errorf("%s of %s %s: %w", Kind(k), x.By, x.Key, err)
			}
		}
	}
	p.step = nil
	return nil
}
