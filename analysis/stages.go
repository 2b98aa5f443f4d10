package analysis

import (
	"fmt"
	"strconv"
	"time"

	"queuebench/queue"
	"queuebench/stats"
)

// StageStats say how long a stage of a batch's way took, over the batches of a
// whole step, the warm-up included.
type StageStats struct {
	Stage  string `json:"stage"` // wait, encode, data_put, … as the raw log has them
	N      int64  `json:"n"`     // batches that have it
	P50Ns  int64  `json:"p50_ns"`
	P99Ns  int64  `json:"p99_ns"`
	MaxNs  int64  `json:"max_ns"`
	MeanNs int64  `json:"mean_ns"`
	// Supported: enough batches stand behind the p99.
	Supported bool `json:"p99_supported"`
}

// stageColumns are the columns of the table batches, in the order of the stages.
func stageColumns() []string {
	var names []string
	for s := range queue.NumStages {
		names = append(names, s.String()+"_ns")
	}
	return names
}

// stageCounters count the stages of a step while its batches are read.
type stageCounters [queue.NumStages]stats.Counter

// stageSums are the stages of a step's batches.
type stageSums [queue.NumStages]stats.Compact

// count takes a batch: its stages stand in the columns from first on.
func (c *stageCounters) count(value func(column int) int64, first int) {
	for s := range c {
		record(&c[s], value(first+s))
	}
}

func (c *stageCounters) take() (out stageSums) {
	for s := range c {
		out[s] = c[s].Take()
	}
	return out
}

// stats are those of the stages that any batch had.
func (c *stageSums) stats() []StageStats {
	var out []StageStats
	for s, h := range c {
		if h.N == 0 {
			continue
		}
		p50, _ := h.Quantile(0.5, 0)
		p99, _ := h.Quantile(0.99, 0)
		out = append(out, StageStats{
			Stage: queue.Stage(s).String(), N: h.N, P50Ns: p50, P99Ns: p99, MaxNs: h.Max, MeanNs: int64(h.Mean()),
			Supported: stats.Supported(0.99, h.N, h.N),
		})
	}
	return out
}

// checkStages refuses what no log says.
func checkStages(all []StageStats) error {
	known := map[string]bool{}
	for s := range queue.NumStages {
		known[s.String()] = true
	}
	for _, s := range all {
		if !known[s.Stage] || s.N < 1 || s.P50Ns < 0 || s.P99Ns < 0 || s.MaxNs < 0 || s.MeanNs < 0 {
			return fmt.Errorf("the stage %q of %d batches", s.Stage, s.N)
		}
		known[s.Stage] = false // each once
	}
	return nil
}

// Stages say where a message's time went, stage by stage, and what the medians
// add up to.
type Stages struct {
	Stages []StageStats `json:"stages"`
	// Sum is docs/delta.md's sum of a median latency; nil where it does not hold.
	Sum *StageSum `json:"sum,omitempty"`
}

// StageSum is T/2 + Pd + Pc + (δ+g)/2 + Gc + Gd: what the median end-to-end
// latency comes to by the medians of the requests alone. T is the longest of the
// commit interval, a commit PUT, and both PUTs over the batches under way; g, a
// GET that misses, is not in the log and is taken to last as long as one that
// finds the commit.
type StageSum struct {
	IntervalNs  int64 `json:"interval_ns"` // T
	DataPutNs   int64 `json:"data_put_ns"`
	CommitPutNs int64 `json:"commit_put_ns"`
	PollNs      int64 `json:"poll_ns"` // δ
	MissNs      int64 `json:"miss_ns"` // g
	CommitGetNs int64 `json:"commit_get_ns"`
	DataGetNs   int64 `json:"data_get_ns"` // 0 where the data came with the commit
	SumNs       int64 `json:"sum_ns"`
	// MedianNs is what was measured, after the warm-up, and Ratio this over the
	// sum; 0 where there is none.
	MedianNs int64   `json:"median_ns"`
	Ratio    float64 `json:"ratio"`
}

// stages describes the stages of a step; nil of a queue that tells none.
func (c *cut) stages() *Stages {
	if len(c.step.Stages) == 0 {
		return nil
	}
	return &Stages{Stages: c.step.Stages, Sum: c.stageSum()}
}

// stageSum is the sum for a Delta queue of the thin design that followed a
// schedule and whose poll interval is known.
func (c *cut) stageSum() *StageSum {
	all := settings(c.digest, c.step)
	poll, ok := pollInterval(all)
	median := map[string]int64{}
	for _, s := range c.step.Stages {
		median[s.Stage] = s.P50Ns
	}
	_, committed := median[queue.StageCommitPut.String()]
	_, found := median[queue.StageCommitGet.String()]
	T := int64(c.step.commitInterval)
	switch {
	case c.digest.Manifest.Queue.Kind != "delta" || all["preset"] == "pathway" || !ok || T <= 0 || !committed || !found:
		return nil
	case c.step.closed() || c.step.drains() || c.step.tails():
		return nil
	}
	depth, err := strconv.ParseInt(all["pipeline"], 10, 64)
	if err != nil || depth < 1 {
		depth = 1
	}
	s := &StageSum{
		DataPutNs: median[queue.StageDataPut.String()], CommitPutNs: median[queue.StageCommitPut.String()], PollNs: int64(poll),
		CommitGetNs: median[queue.StageCommitGet.String()], DataGetNs: median[queue.StageDataGet.String()],
	}
	s.MissNs = s.CommitGetNs
	s.IntervalNs = max(T, s.CommitPutNs, (s.DataPutNs+s.CommitPutNs)/depth)
	s.SumNs = s.IntervalNs/2 + s.DataPutNs + s.CommitPutNs + (s.PollNs+s.MissNs)/2 + s.CommitGetNs + s.DataGetNs
	if h := c.total[EndToEnd]; h.N > 0 && c.step.NoEndToEnd == "" {
		if p50, beyond := h.Quantile(0.5, c.never[EndToEnd]); !beyond {
			s.MedianNs, s.Ratio = p50, float64(p50)/float64(s.SumNs)
		}
	}
	return s
}

// pollInterval is δ by the settings of a run; false where a queue chose its own.
func pollInterval(all map[string]string) (time.Duration, bool) {
	if all["commit-interval"] == "auto" {
		return 0, false
	}
	if ms, err := strconv.ParseInt(all["autocommit-duration-ms"], 10, 64); err == nil && ms > 0 {
		return time.Duration(ms) * time.Millisecond, true
	}
	d, err := time.ParseDuration(all["poll-interval"])
	return d, err == nil && d > 0
}

// Text is the sum in words: "T/2 50 ms + data PUT 3.3 ms + … = 64 ms; …".
func (s *StageSum) Text() string {
	text := fmt.Sprintf("T/2 %s + data PUT %s + commit PUT %s + (poll %s + miss %s)/2 + commit GET %s + data GET %s = %s",
		FormatLatency(s.IntervalNs/2), FormatLatency(s.DataPutNs), FormatLatency(s.CommitPutNs), FormatLatency(s.PollNs), FormatLatency(s.MissNs),
		FormatLatency(s.CommitGetNs), FormatLatency(s.DataGetNs), FormatLatency(s.SumNs))
	if s.Ratio > 0 {
		text += fmt.Sprintf("; the median was %s, %.2f times that", FormatLatency(s.MedianNs), s.Ratio)
	}
	return text
}

// staged tells whether any step tells its stages.
func (s *Summary) staged() bool {
	for i := range s.Steps {
		if s.Steps[i].Stages != nil {
			return true
		}
	}
	return false
}

// StageTable has a row per step and stage.
func StageTable(s Summary) (header []string, rows [][]string) {
	header = append(s.stepHeader(), "stage", "batches", "p50", "p99", "max", "mean")
	for i := range s.Steps {
		if s.Steps[i].Stages == nil {
			continue
		}
		for _, x := range s.Steps[i].Stages.Stages {
			rows = append(rows, append(s.stepCells(i), x.Cells()...))
		}
	}
	return header, rows
}

// Cells are a stage as texts: its name, batches, median, p99, maximum and mean.
func (x *StageStats) Cells() []string {
	p99 := Dash
	if x.Supported {
		p99 = FormatLatency(x.P99Ns)
	}
	return []string{stageTitle(x.Stage), FormatCount(x.N), FormatLatency(x.P50Ns), p99, FormatLatency(x.MaxNs), FormatLatency(x.MeanNs)}
}

// stageTitle names a stage for people.
func stageTitle(stage string) string {
	switch stage {
	case "data_put":
		return "data PUT"
	case "commit_put":
		return "commit PUT"
	case "commit_get":
		return "commit GET"
	case "data_get":
		return "data GET"
	}
	return stage
}
