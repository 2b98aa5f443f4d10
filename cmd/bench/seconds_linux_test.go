package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"queuebench/objectstore"
	"queuebench/rawlog"
	"queuebench/rawlog/logstore"
)

// secondsOf sums each column of the table seconds over its rows, and says which
// are null in any of them.
func secondsOf(t *testing.T, address string) (sums map[string]int64, nulls map[string]bool) {
	t.Helper()
	src, err := logstore.Open(t.Context(), address, objectstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names, err := src.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sums, nulls = map[string]int64{}, map[string]bool{}
	for _, name := range names {
		if !strings.HasPrefix(name, rawlog.Seconds.Name+"/") {
			continue
		}
		obj, err := src.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		part, err := rawlog.OpenPart(obj)
		if err != nil {
			t.Fatal(err)
		}
		for part.Next() {
			for _, v := range part.Columns() {
				for _, n := range v.Ints {
					if n == rawlog.Null {
						nulls[v.Name] = true
						continue
					}
					sums[v.Name] += n
				}
			}
		}
		if part.Err() != nil {
			t.Fatal(part.Err())
		}
		obj.Close()
	}
	return sums, nulls
}

// On Linux every column of the series is known, but for the requests of a queue
// that has no store.
func TestEachSecondHasAllThatLinuxTells(t *testing.T) {
	bareEnvironment(t)
	status, stdout, stderr := bench(t, strings.Fields("run --queue delta --rate 500 --duration 1500ms --commit-interval 50ms")...)
	if status != 0 {
		t.Fatal(stderr)
	}
	sums, nulls := secondsOf(t, lastLine(stdout))
	if len(nulls) > 0 {
		t.Errorf("null: %q", slices.Sorted(maps.Keys(nulls)))
	}
	for _, c := range []string{"scheduled", "attempted", "acked", "received"} {
		if sums[c] != 750 {
			t.Errorf("%s sums up to %d of 750", c, sums[c])
		}
	}
	for _, c := range []string{"cpu_ns", "memory_bytes", "network_in_bytes", "network_out_bytes", "disk_used_bytes", "connections", "requests_put", "requests_put_if_absent", "requests_get"} {
		if sums[c] <= 0 {
			t.Errorf("%s is %d throughout", c, sums[c])
		}
	}

	status, stdout, stderr = bench(t, strings.Fields("run --queue memory --rate 500 --duration 100ms")...)
	if status != 0 {
		t.Fatal(stderr)
	}
	_, nulls = secondsOf(t, lastLine(stdout))
	for name := range nulls {
		if name != "connections" && !strings.HasPrefix(name, "requests_") {
			t.Errorf("%s is null", name)
		}
	}
	if len(nulls) != 9 {
		t.Errorf("null: %q", slices.Sorted(maps.Keys(nulls)))
	}
}
