package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// judge adds what the numbers of a step mean to its summary. Each rule stands
// in a function that gives at most one finding; docs/tuning.md has a section
// for each ID.
func (c *cut) judge() {
	for _, rule := range stepRules {
		if f := rule(c); f != nil {
			c.summary.Findings = append(c.summary.Findings, *f)
		}
	}
	sortFindings(c.summary.Findings)
}

var stepRules = []func(*cut) *Finding{
	stepFailed, stepIncomplete, nothingAcknowledged, windowEmpty, noData,
	accountingBreach, halfMissing, clocksNotComparable, clockOffset,
	messagesLost, duplicates, outOfOrder, failedMessages, unconfirmedMessages, receivedUnacknowledged,
	overrun, foreignMessages, rejectedRows,
	endToEndOnly, warmupTooLong, warmupMoved, windowMoved, breakdownCut,
	tailFinding, stampClock, coarseStamp, isClosedLoop, drainingBacklog, scheduled(draining), scheduled(notKeepingUp), scheduled(tooShortForGrowth),
	scheduled(noSteadyState), scheduled(warmupLongerThanCut), scheduled(endBound), scheduled(cpuBound), cpuSteal, scheduled(networkBound), scheduled(diskBound), queueOnlyGrows,
	scheduled(runnerLimited), scheduled(clockSkew), scheduled(stampsTooCoarse), scheduled(manyUnderOneStamp), tooFewSamples,
	faultsStruck, requestsRetried, rebalances, unevenPartitions, scheduled(phaseLocked), scheduled(commitBound), scheduled(sawTooth), commitsSlow,
	scheduled(stalls), scheduled(twoModes),
}

// has tells whether a finding of that ID was made before.
func (c *cut) has(id string) bool {
	return slices.ContainsFunc(c.summary.Findings, func(f Finding) bool { return f.ID == id })
}

var severityRank = map[Severity]int{Failure: 0, Warning: 1, Note: 2}

func sortFindings(f []Finding) {
	slices.SortStableFunc(f, func(a, b Finding) int {
		return cmp.Compare(severityRank[a.Severity], severityRank[b.Severity])
	})
}

func finding(id string, s Severity, text, advice string, args ...any) *Finding {
	return &Finding{ID: id, Severity: s, Text: fmt.Sprintf(text, args...), Advice: advice, Tuning: TuningDocument + "#" + id}
}

// TuningDocument has a section for each finding, under its ID.
const TuningDocument = "docs/tuning.md"

// with adds a number that stands behind f. What is not finite is left out, since
// JSON has no word for it: the text has one.
func (f *Finding) with(name string, v float64) *Finding {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return f
	}
	if f.Numbers == nil {
		f.Numbers = map[string]float64{}
	}
	f.Numbers[name] = v
	return f
}

// plural is "1 message" or "12,000 messages".
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return FormatCount(n) + " " + stem + "ies"
	}
	return FormatCount(n) + " " + noun + "s"
}

// Broken are the findings that say that the queue broke a promise: loss or
// repetition where its Info promises neither.
func (s Summary) Broken() []Finding {
	var broken []Finding
	for _, step := range s.Steps {
		for _, f := range step.Findings {
			if f.Severity == Failure && (f.ID == "messages-lost" || f.ID == "duplicates") {
				broken = append(broken, f)
			}
		}
	}
	return broken
}
