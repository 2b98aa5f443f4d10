// Package reporttest makes digests of runs that never ran, for the tests of the
// report, the site and the page in a browser. What is in them is computed from
// a seed, message by message, and counted as the analysis counts.
package reporttest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"queuebench/analysis"
	"queuebench/clock"
	"queuebench/queue"
	"queuebench/rawlog"
	"queuebench/stats"
)

// HostileName is a run's name that tries to leave every place it is put into.
const HostileName = `a/b "c" <img src=x onerror="alert(1)"><script>alert(2)</script> & 'd' ../..`

// Spec says what run to make.
type Spec struct {
	Run      string
	Rates    []float64
	Repeats  int           // 0 for 1
	Duration time.Duration // of each step; 0 for 20 s
	Interval time.Duration // 0 for 200 ms
	// Lost messages per step, all in its last second.
	Lost int64
	// Stall holds everything up for 600 ms at two thirds of the last step.
	Stall bool
	// Slower multiplies every latency of the queue; 0 for 1.
	Slower float64
}

// Digest is the digest of a run on a Delta table with commits of 100 ms, which
// starts slowly: in the first second and a half latencies are three times the
// later ones.
func Digest(s Spec) *analysis.Digest {
	if s.Duration == 0 {
		s.Duration = 20 * time.Second
	}
	if s.Interval == 0 {
		s.Interval = 200 * time.Millisecond
	}
	s.Repeats = max(1, s.Repeats)
	const start = int64(1_795_947_300_000_000_000)
	settings := map[string]string{"queue": "delta", "commit-interval": "100ms", "message-size": "100", "duration": s.Duration.String()}
	d := &analysis.Digest{Manifest: rawlog.Manifest{
		Schema: rawlog.SchemaVersion, Run: s.Run, Complete: true,
		Program: rawlog.Program{Name: "bench", Version: "v0.1.0", Go: "go1.26"},
		Host:    rawlog.Host{Name: "lab-3", OS: "linux", Arch: "amd64", Kernel: "6.12.0", CPUs: 2, CPUModel: "Example CPU", MemoryBytes: 8 << 30},
		Clock:   clock.Identity{Host: "lab-3", BootID: "5f0c0c1e", AnchorNs: start - 1e9},
		Queue: queue.Info{Kind: "delta", Partitions: 1, LosesNothing: true, DeliversOnce: true, CommitInterval: 100 * time.Millisecond,
			Durability: "An acknowledged message is in a committed version of the table."},
		Store:     rawlog.StoreInfo{Address: "s3://lab/queue?endpoint=http://127.0.0.1:7070", Durability: "Objects are written to a folder and not synced."},
		LogStore:  rawlog.StoreInfo{Address: "s3://lab-log/runs?endpoint=http://127.0.0.1:7070", Durability: "Objects are written to a folder and not synced."},
		StartedNs: start, Settings: settings, Warnings: []string{},
	}}
	at := start
	for i, rate := range s.Rates {
		for k := range s.Repeats {
			st := step(s, i, k, rate, at, s.Stall && i == len(s.Rates)-1)
			d.Steps = append(d.Steps, st)
			a := st.Accounting
			d.Manifest.Steps = append(d.Manifest.Steps, rawlog.Step{
				Step: i, Repeat: k, Rate: rate, Settings: st.Settings, StartedNs: at, DurationNs: int64(s.Duration),
				DeadlineNs: at + int64(s.Duration+10*time.Second), EndedNs: at + int64(s.Duration+2*time.Second),
				Producers: 1, Groups: []string{"bench"}, Complete: true,
				Accounting: rawlog.Accounting{Scheduled: a.Scheduled, Attempted: a.Attempted, Acked: a.Acked, Received: a.Received, Lost: a.Lost},
			})
			at += int64(s.Duration + 5*time.Second)
		}
	}
	d.Manifest.EndedNs = at
	return d
}

func step(s Spec, index, repeat int, rate float64, start int64, stall bool) analysis.StepDigest {
	r := rand.New(rand.NewPCG(uint64(index)+1, uint64(repeat)+17))
	st := analysis.StepDigest{
		Step: index, Repeat: repeat, Rate: rate, Complete: true, StartNs: start, Duration: s.Duration, Interval: s.Interval,
		Settings: map[string]string{"rate": fmt.Sprint(rate)},
		Commits:  analysis.CommitStats{Commits: int64(s.Duration / (100 * time.Millisecond)), MedianBytes: int64(rate * 10), MedianPutNs: 2_100_000, MedianCommit: 1_900_000},
	}
	st.ReceivedPerSecond = make([]int64, int(s.Duration/time.Second)+2)
	seconds := int(s.Duration / time.Second)
	for i := range seconds {
		st.Seconds = append(st.Seconds, analysis.Second{At: time.Duration(i+1) * time.Second, Received: int64(rate), Backlog: int64(rate * 0.06), CPUNs: 2e8, MemoryBytes: 40 << 20})
	}
	stallFrom, stallTo := s.Duration*2/3, s.Duration*2/3+600*time.Millisecond
	n := int64(rate * s.Duration.Seconds())
	lastSecond := int64(rate * (s.Duration - time.Second).Seconds())
	var hists [analysis.NumKinds]stats.Counter
	var own stats.Counter
	slow := map[int]analysis.SlowMessage{} // the slowest of each fiftieth
	i := int64(0)
	for from := time.Duration(0); from < s.Duration; from += s.Interval {
		iv := analysis.Interval{Start: from, End: min(from+s.Interval, s.Duration)}
		for ; i < n; i++ {
			due := time.Duration(float64(i) / rate * 1e9)
			if due >= iv.End {
				break
			}
			iv.Scheduled++
			lag := int64(3_000 + r.ExpFloat64()*4_000)
			must(hists[analysis.SendLag].Record(lag))
			must(own.Record(lag))
			// Visible at the next commit, plus two requests, plus a poll.
			wait := 100*time.Millisecond - due%(100*time.Millisecond)
			l := int64(wait) + 9_000_000 + int64(r.ExpFloat64()*(3_000_000+rate*100)) + int64(rate*200)
			if due < 1500*time.Millisecond {
				l *= 3
			}
			if s.Slower > 0 {
				l = int64(float64(l) * s.Slower)
			}
			if stall && due >= stallFrom && due < stallTo {
				l += int64(stallTo - due)
			}
			must(hists[analysis.Publish].Record(l - 4_000_000))
			if s.Lost > 0 && i >= lastSecond && i < lastSecond+s.Lost {
				iv.Infinite[analysis.EndToEnd]++
				iv.Infinite[analysis.EndToEndFromSend]++
				st.Accounting.Lost++
				continue
			}
			must(hists[analysis.EndToEnd].Record(l))
			must(hists[analysis.EndToEndFromSend].Record(l - lag))
			slice := int(due * 50 / s.Duration)
			if m, ok := slow[slice]; !ok || l > m.Latency() {
				at := int64(due)
				slow[slice] = analysis.SlowMessage{Seq: i, Group: "bench", Consumer: "consumer-0", Intended: at, Sent: at + lag, Acked: at + l - 4_000_000, Broker: rawlog.Null, Received: at + l}
			}
			if sec := int((due + time.Duration(l)) / time.Second); sec < len(st.ReceivedPerSecond) {
				st.ReceivedPerSecond[sec]++
			}
		}
		for k := range hists {
			iv.Latency[k] = hists[k].Take()
		}
		iv.OwnLag = own.Take()
		st.Intervals = append(st.Intervals, iv)
	}
	for _, m := range slow {
		st.Slowest = append(st.Slowest, m)
	}
	slices.SortFunc(st.Slowest, func(a, b analysis.SlowMessage) int {
		return cmp.Or(cmp.Compare(b.Latency(), a.Latency()), cmp.Compare(a.Seq, b.Seq))
	})
	a := &st.Accounting
	a.Scheduled, a.Attempted, a.Acked, a.RecordsUsed = n, n, n, n
	a.Received = n - a.Lost
	return st
}

func must(err error) {
	if err != nil {
		panic("reporttest: " + err.Error())
	}
}
