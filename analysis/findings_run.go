package analysis

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"queuebench/rawlog"
)

// runFindings are those about the run as a whole.
func runFindings(d *Digest, cuts []*cut) []Finding {
	out := []Finding{}
	for _, f := range []*Finding{runIncomplete(d), emptyRun(d, cuts), inProcess(d), sharedStore(d), sharedHost(d), capacityFound(d)} {
		if f != nil {
			out = append(out, *f)
		}
	}
	for _, same := range byVariant(cuts) {
		for _, f := range []*Finding{keptUp(same), knee(same)} {
			if f == nil {
				continue
			}
			if v := same[0].summary.Variant; v != "" {
				f.Text = "With " + v + ": " + strings.ToLower(f.Text[:1]) + f.Text[1:]
			}
			out = append(out, *f)
		}
	}
	sortFindings(out)
	return out
}

// byVariant gathers the steps that differ by no more than their rate, in the
// order of their first.
func byVariant(cuts []*cut) [][]*cut {
	var out [][]*cut
	at := map[string]int{}
	for _, c := range cuts {
		i, ok := at[c.summary.Variant]
		if !ok {
			i = len(out)
			at[c.summary.Variant] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], c)
	}
	return out
}

func runIncomplete(d *Digest) *Finding {
	if d.Manifest.Complete || onlyHalfMissing(&d.Manifest) {
		return nil
	}
	why := d.Manifest.Reason
	if why == "" {
		why = "it was killed, or is still running"
	}
	return finding("run-incomplete", Warning, "The run is incomplete: %s.",
		"What was recorded is shown up to the watermark of each step. Run it again for the whole.", strings.TrimSuffix(why, "."))
}

func emptyRun(d *Digest, cuts []*cut) *Finding {
	if len(d.References) > 0 {
		return nil
	}
	for _, c := range cuts {
		if c.step.Accounting.Scheduled+c.step.Accounting.Received > 0 {
			return nil
		}
	}
	return finding("empty-run", Failure, "No data: no step of this run has a message.",
		"See the run's warnings and events for why it ended before it began.")
}

func inProcess(d *Digest) *Finding {
	m := &d.Manifest
	switch {
	case m.Store.Embedded:
		return finding("in-process-floor", Warning, "In-process floor: the store was the embedded server, on loopback and inside the runner. This is no result about an object store.",
			"Give --store and --endpoint for the store that you mean to use.")
	case m.Queue.InProcess:
		return finding("in-process-floor", Warning, "In-process floor: the %s queue lives inside the runner. This is what the harness costs, not a result about a product.",
			"Compare other queues with it, and publish those.", m.Queue.Kind)
	}
	return nil
}

func sharedStore(d *Digest) *Finding {
	a, b := d.Manifest.Store, d.Manifest.LogStore
	if !sameStore(a, b) {
		return nil
	}
	place := storePlace(a.Address)
	switch {
	case a.Embedded:
		place = "the embedded server"
	case !strings.HasPrefix(a.Address, "s3://"):
		place = b.Address
	}
	return finding("shared-store", Note, "The raw log went to the store under test (%s): its uploads compete with the queue's requests.",
		"Give --log-store another store, or a folder on another disk.", place)
}

// sameStore tells whether two addresses are served by one server or disk, as
// far as addresses can tell.
func sameStore(a, b rawlog.StoreInfo) bool {
	if a.Address == "" || b.Address == "" {
		return false
	}
	return a.Embedded && b.Embedded || storePlace(a.Address) == storePlace(b.Address)
}

// storePlace is the endpoint of an s3:// address, or its bucket where it names
// none, or the first element of a folder's path.
func storePlace(address string) string {
	u, err := url.Parse(address)
	if err == nil && u.Scheme == "s3" {
		if e := u.Query().Get("endpoint"); e != "" {
			return e
		}
		return "s3://" + u.Host
	}
	path := strings.TrimPrefix(address, "file://")
	rest := strings.TrimLeft(path, "./")
	root, _, _ := strings.Cut(rest, "/")
	return path[:len(path)-len(rest)] + root
}

// keptUp names the highest rate of a sweep that held.
func keptUp(cuts []*cut) *Finding {
	if c := cuts[0]; c.digest.Manifest.Capacity != nil || c.step.closed() || c.step.drains() || c.step.tails() || c.step.imported() {
		return nil
	}
	type verdict struct {
		rate float64
		bad  string
	}
	byRate := map[float64]*verdict{}
	for _, c := range cuts {
		v := byRate[c.step.Rate]
		if v == nil {
			v = &verdict{rate: c.step.Rate}
			byRate[c.step.Rate] = v
		}
		if bad := c.notHeld(); bad != "" {
			v.bad = bad
		}
	}
	var rates []*verdict
	for _, v := range byRate {
		rates = append(rates, v)
	}
	if len(rates) < 2 {
		return nil
	}
	slices.SortFunc(rates, func(a, b *verdict) int { return cmp.Compare(a.rate, b.rate) })
	// The highest below the first that did not hold: a rate that holds above
	// one that did not is luck.
	held := 0
	for held < len(rates) && rates[held].bad == "" {
		held++
	}
	const advice = "Leave room: plan for well below the highest rate that held, and sweep more finely around it."
	switch {
	case held == 0:
		return finding("highest-rate", Warning, "No rate held: %s msg/s, the lowest, %s.", "Sweep lower rates.", FormatRate(rates[0].rate), rates[0].bad)
	case held == len(rates):
		return finding("highest-rate", Note, "Every rate held, up to %s msg/s, the highest that was tried.", "Sweep higher rates to find the limit.", FormatRate(rates[held-1].rate))
	}
	return finding("highest-rate", Note, "The highest rate that held is %s msg/s: at %s msg/s it %s.", advice,
		FormatRate(rates[held-1].rate), FormatRate(rates[held].rate), rates[held].bad)
}

// notHeld says why a step did not hold its rate, as the end of a sentence.
func (c *cut) notHeld() string {
	for _, w := range []struct{ id, text string }{
		{"step-failed", "failed"},
		{"nothing-acknowledged", "had nothing acknowledged"},
		{"not-keeping-up", "did not keep up"},
		{"overrun", "left messages of the schedule unsent"},
		{"messages-lost", "lost messages"},
		{"messages-failed", "had messages refused"},
		{"messages-unconfirmed", "left messages unconfirmed"},
		{"step-incomplete", "was not completed"},
		{"no-data", "had no message"},
	} {
		if c.has(w.id) {
			return w.text
		}
	}
	return ""
}
