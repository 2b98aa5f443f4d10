package analysis

import (
	"bytes"
	"strings"
	"testing"

	"queuebench/rawlog"
)

// Where acknowledgements differ from step to step, each is said with what it is of,
// and once for all rates.
func TestDurabilityIsOfItsStep(t *testing.T) {
	msgs := frozen(1000, 0, 0)
	digest := func(texts ...string) *Digest {
		var steps []StepDigest
		for i := range texts {
			s := synthStep(t, i, float64(100+100*(i/2)), 10*sec, sec, msgs)
			s.Settings["kafka-set"] = []string{"acks=1", "acks=all"}[i%2]
			steps = append(steps, s)
		}
		d := synthDigest(steps...)
		d.Manifest.Queue.Durability = texts[len(texts)-1]
		for i, text := range texts {
			d.Manifest.Steps = append(d.Manifest.Steps, rawlog.Step{Step: i, Durability: text})
		}
		return d
	}
	text := func(d *Digest) (string, Summary) {
		var b bytes.Buffer
		s := Summarize(d, all())
		if err := WriteText(&b, s); err != nil {
			t.Fatal(err)
		}
		return b.String(), s
	}
	got, s := text(digest("The leader has it.", "All have it.", "The leader has it.", "All have it."))
	for _, want := range []string{"kafka-set acks=1: The leader has it.", "kafka-set acks=all: All have it."} {
		if strings.Count(got, want) != 1 || !strings.Contains(s.DurabilityText(), want) {
			t.Errorf("%q is not said once in\n%s", want, got)
		}
	}
	if s.Steps[2].Durability != "The leader has it." || !s.DurabilityDiffers() {
		t.Errorf("%+v", s.Steps[2].Durability)
	}
	got, s = text(digest("All have it.", "All have it."))
	if !strings.Contains(got, "acked    All have it.") || s.DurabilityText() != "All have it." || s.DurabilityDiffers() {
		t.Error(got)
	}
	// A log that is older says it once, of the run.
	got, s = text(digest("", "All have it."))
	if !strings.Contains(got, "acked    All have it.") || s.Steps[0].Durability != "All have it." {
		t.Error(got)
	}
}
