package importer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"queuebench/analysis"
	"queuebench/rawlog"
)

// The columns of warp that are needed. Its files are called .csv and separated
// by tabs.
var warpColumns = []string{"op", "error", "start", "duration_ns"}

func isWarp(head []byte) bool {
	fields := strings.Split(string(firstLine(head)), "\t")
	for _, name := range warpColumns {
		if !slices.Contains(fields, name) {
			return false
		}
	}
	return true
}

func readWarp(s *source) (*analysis.Digest, error) {
	ops := newSeries("op")
	at := make([]int, len(warpColumns))
	columns, failed := 0, 0
	err := s.eachLine(func(line []byte) error {
		if line[0] == '#' {
			return nil
		}
		f := strings.Split(string(bytes.TrimRight(line, "\r")), "\t")
		if columns == 0 || f[0] == "idx" {
			columns = len(f)
			for i, name := range warpColumns {
				if at[i] = slices.Index(f, name); at[i] < 0 {
					return fmt.Errorf("the header has no column %s", name)
				}
			}
			return nil
		}
		if len(f) != columns {
			return fmt.Errorf("%d columns, the header has %d", len(f), columns)
		}
		start, _, err := stamp(f[at[2]])
		if err != nil {
			return err
		}
		ns, err := latency(f[at[3]], time.Nanosecond)
		if err != nil {
			return err
		}
		c, err := ops.of(f[at[0]])
		if err != nil {
			return err
		}
		if f[at[1]] != "" {
			failed++
			if _, err := c.row(start, time.Nanosecond); err != nil {
				return err
			}
			c.acc.Attempted++
			c.acc.Failed++
			return nil
		}
		return c.sample(start, time.Nanosecond, ns, true)
	})
	if err != nil {
		return nil, err
	}
	about := rawlog.Import{Format: "warp operations", Latency: "of one operation on the object store, from its start to its end; a client begins the next when it is done (closed loop)", Percentiles: computedHere}
	if len(ops.order) > 1 {
		about.Notes = append(about.Notes, "each kind of operation is a step of its own")
	}
	if failed > 0 {
		about.Notes = append(about.Notes, fmt.Sprintf("%d operations with an error are counted as failed and have no latency, as in warp itself", failed))
	}
	d := s.digest("warp", about)
	return d, ops.addTo(d, s)
}
