package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"queuebench/analysis"
)

// overlayLabels name the runs by their queues, and several runs of one queue by what
// sets them apart too. addresses are those under which the runs were named.
func overlayLabels(all []analysis.Summary, addresses []string) []string {
	labels := make([]string, len(all))
	same := map[string][]int{}
	for i := range all {
		labels[i] = all[i].Queue.Kind
		if all[i].Queue.InProcess {
			labels[i] += " (in-process floor)"
		}
		same[labels[i]] = append(same[labels[i]], i)
	}
	for _, runs := range same {
		if len(runs) == 1 {
			continue
		}
		for k, text := range setApart(all, addresses, runs) {
			labels[runs[k]] = strings.TrimSpace(labels[runs[k]] + " " + text)
		}
	}
	return labels
}

// maxTraits is how many settings a label tells: a figure has no room for more.
const maxTraits = 3

// setApart tells some runs apart: by the settings that differ between them and what
// an acknowledgement means, else by where the server or the store was, else by when
// they began, else by their names, else by their order.
func setApart(all []analysis.Summary, addresses []string, runs []int) []string {
	traits := make([]map[string]trait, len(runs))
	for k, i := range runs {
		traits[k] = traitsOf(&all[i])
	}
	texts := make([]string, len(runs))
	distinct := func() bool { return len(slices.Compact(slices.Sorted(slices.Values(texts)))) == len(runs) }
	names := differing(traits, false)
	tell := func(names []string) {
		for k := range runs {
			texts[k] = traitsText(traits[k], names)
		}
	}
	if tell(names); distinct() {
		return texts
	}
	if len(names) == 0 {
		tell(differing(traits, true))
	}
	for n, further := range []func(k int) string{
		func(k int) string {
			if at := all[runs[k]].StartedNs; at != 0 { // another tool may not tell
				return time.Unix(0, at).UTC().Format("2006-01-02 15:04:05")
			}
			return ""
		},
		func(k int) string { return cmp.Or(all[runs[k]].Run, shortened(labelOf(addresses[runs[k]]))) },
		func(k int) string { return fmt.Sprint(k + 1) },
	} {
		if distinct() {
			break
		}
		plain := slices.Clone(texts)
		for k := range runs {
			texts[k] = strings.TrimLeft(texts[k]+" "+further(k), " ")
		}
		if !distinct() && n < 2 { // only what tells all of them apart is worth its room
			copy(texts, plain)
		}
	}
	return texts
}

// trait is something of a run that may set it apart.
type trait struct {
	value string
	rank  rank
	// sparse: a run that lacks it has another value of it. What a program of another
	// version did not record is none.
	sparse bool
}

// rank orders traits.
type rank int

const (
	ofQueue rank = iota // a setting of the queue, or of what its acknowledgement means
	ofLoad
	ofPlace // where something was, not what
)

// notTraits are settings that each run has for itself, that the figure shows, or that
// change nothing of what is measured.
var notTraits = []string{
	"command", "queue", "run-id", "seed", "rate", "rates", "range-start", "range-end", "range-step", "repeats", "order", "vary", "workload",
	"duration", "seconds-to-stream", "drain-timeout", "spool", "json", "quiet", "metrics-addr", "calibrate", "part-age", "prices", "wait", "start-delay",
	"first-consumer", "all-consumers",
}

// places are settings that say where a server, a store or a file was.
var places = regexp.MustCompile(`^(data|store|log-store|bucket|endpoint|region|path-style|s3-.*|brokers|.*-url|.*-monitor|kafka-config|topic|through|.*-file|.*-creds|broker-.*|clock-.*)$`)

// promises are the settings in a sentence on what an acknowledgement means: acks=all,
// (appendfsync always), (sync_interval: always). Other words in brackets are prose.
var promises = regexp.MustCompile(`\b([a-z][a-z._]*)=([\w.]+)|\(([a-z][a-z._-]*): ([a-z0-9]+)\)|\((append[a-z]+) ([a-z]+)\)`)

// traitsOf are the traits that all steps of a run share, by their names.
func traitsOf(s *analysis.Summary) map[string]trait {
	traits := map[string]trait{}
	for i := range s.Steps {
		own := map[string]trait{}
		for _, m := range promises.FindAllStringSubmatch(cmp.Or(s.Steps[i].Durability, s.Queue.Durability), -1) {
			own[m[1]+m[3]+m[5]] = trait{value: strings.TrimRight(m[2]+m[4]+m[6], "."), sparse: true}
		}
		for name, value := range s.Steps[i].Settings {
			switch {
			case slices.Contains(notTraits, name) || name == "X":
			case name == "kafka-set":
				for _, one := range strings.Split(value, ",") {
					if k, v, ok := strings.Cut(one, "="); ok {
						own[k] = trait{value: v, sparse: true}
					}
				}
			default:
				t := trait{value: value, rank: ofLoad}
				short, queues := strings.CutPrefix(name, s.Queue.Kind+"-")
				if places.MatchString(name) {
					t.rank = ofPlace
				} else if queues {
					t.rank = ofQueue
				}
				own[short] = t
			}
		}
		for name, t := range own {
			if was, there := traits[name]; i == 0 {
				traits[name] = t
			} else if !there || was != t {
				delete(traits, name)
			}
		}
		for name := range traits {
			if _, there := own[name]; !there {
				delete(traits, name)
			}
		}
	}
	return traits
}

// differing are the names of traits, of places or of others, that are not the same in
// all runs, in their order.
func differing(all []map[string]trait, place bool) (names []string) {
	ranks := map[string]rank{}
	for _, traits := range all {
		for name, t := range traits {
			if (t.rank == ofPlace) != place {
				continue
			}
			for _, other := range all {
				if o, there := other[name]; there && o.value != t.value || !there && t.sparse {
					ranks[name] = t.rank
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(ranks), func(a, b string) int {
		return cmp.Or(cmp.Compare(ranks[a], ranks[b]), cmp.Compare(a, b))
	})
}

// traitsText is what a label tells of a run: so many traits, and how many it leaves out.
func traitsText(traits map[string]trait, names []string) string {
	var parts []string
	for i, name := range names {
		if i == maxTraits {
			parts = append(parts, fmt.Sprintf("+%d", len(names)-i))
			break
		}
		if t, there := traits[name]; there {
			parts = append(parts, name+"="+cmp.Or(shortened(t.value), "none"))
		}
	}
	return strings.Join(parts, " ")
}

// shortened is a text of a log that stands in a label.
func shortened(text string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, "")))
	if len(runes) > 32 {
		return string(runes[:31]) + "…"
	}
	return string(runes)
}
