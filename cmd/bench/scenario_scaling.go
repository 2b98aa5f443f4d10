package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"queuebench/runner"
	"queuebench/stats"
)

// scalingTable is throughput against a setting that varies.
type scalingTable struct {
	Setting string       `json:"setting"`
	Rows    []scalingRow `json:"rows"`
}

type scalingRow struct {
	Resource   float64 `json:"resource"`
	Throughput float64 `json:"throughput"` // messages per second: mean of whole seconds
	CoV        float64 `json:"coefficient_of_variation"`
	// Ratio and Efficiency are against the first row.
	Ratio      float64 `json:"throughput_ratio"`
	Efficiency float64 `json:"efficiency"`
	// RateBound says that about as much came as was due: the rate limits the
	// throughput, not what varies.
	RateBound bool `json:"rate_bound"`
}

// scalingOf is there where exactly one setting varies, as a number, at one rate.
func scalingOf(r *runner.Result) *scalingTable {
	varied := variedNames(r)
	if len(varied) != 1 {
		return nil
	}
	table := &scalingTable{Setting: varied[0]}
	throughputs, rates, due := map[float64][]float64{}, map[float64]bool{}, map[float64]float64{}
	for i := range r.Steps {
		s := &r.Steps[i]
		resource, err := strconv.ParseFloat(s.Settings[varied[0]], 64)
		if err != nil || !(resource > 0) {
			return nil
		}
		seconds := throughputOf(s)
		if len(seconds) == 0 {
			return nil
		}
		throughputs[resource] = append(throughputs[resource], seconds...)
		rates[s.Rate] = true
		due[resource] = s.Rate
	}
	if len(rates) != 1 || len(throughputs) < 2 {
		return nil
	}
	for _, resource := range slices.Sorted(maps.Keys(throughputs)) {
		row := scalingRow{Resource: resource}
		row.Throughput, _, row.CoV = stats.Moments(throughputs[resource])
		row.RateBound = row.Throughput >= stats.RecoveryShare*due[resource]
		first := row
		if len(table.Rows) > 0 {
			first = table.Rows[0]
		}
		if first.Throughput > 0 {
			row.Ratio = row.Throughput / first.Throughput
			row.Efficiency = row.Ratio / (row.Resource / first.Resource)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// throughputOf are the messages that were received in each whole second of the
// load, without the first, in which it begins.
func throughputOf(s *runner.StepResult) (all []float64) {
	for i, second := range loadSeconds(s) {
		if i > 0 {
			all = append(all, float64(second.Received))
		}
	}
	return all
}

func (t *scalingTable) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s\tthroughput/s\tcoefficient of variation\tratio\tefficiency\n", t.Setting)
	for _, r := range t.Rows {
		note := ""
		if r.RateBound {
			note = "\tit kept up: the rate limits it"
		}
		fmt.Fprintf(w, "%g\t%.0f\t%.2f\t%.2f\t%.2f%s\n", r.Resource, r.Throughput, r.CoV, r.Ratio, r.Efficiency, note)
	}
}
