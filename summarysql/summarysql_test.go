package summarysql

import (
	"math"
	"strings"
	"testing"
)

func TestQueriesOfEngines(t *testing.T) {
	steps := []Step{{Step: 0, Repeat: 1, FromNs: 5, UntilNs: math.MaxInt64, Groups: []string{"a", "it's"}}, {Step: 1, FromNs: 6, UntilNs: 9, Groups: []string{"a"}}}
	for engine, want := range map[string][]string{
		"duckdb": {`"repeat"`, "read_parquet('/x''y/sent/step=*/repeat=*/*.parquet'", "(99 * all_n + 99) // 100", "'it''s' AS group_name"},
		"spark":  {"`repeat`", "parquet.`/x'y/sent`", "(999 * all_n + 999) DIV 1000", "AS p99_9_ns"},
		"trino":  {"queuebench_sent", "partitioned_by = ARRAY['step', 'repeat']", "(1 * all_n + 1) / 2"},
		"athena": {"CREATE EXTERNAL TABLE queuebench_received (`group` STRING", "MSCK REPAIR TABLE"},
	} {
		q, err := Query(engine, "/x'y", steps, []float64{50, 99, 99.9})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(q, w) {
				t.Errorf("%s: no %q in\n%s", engine, w, q)
			}
		}
		if strings.ContainsAny(q, "{}") || strings.Count(q, "UNION ALL") != 3 {
			t.Errorf("%s: %s", engine, q)
		}
	}
	if q, _ := Query("duckdb", "s3://bucket/run", steps, []float64{50}); !strings.Contains(q, "httpfs") || strings.Contains(q, "s3a://") {
		t.Errorf("%s", q)
	}
	if q, _ := Query("spark", "s3://bucket/run", []Step{{}}, []float64{50}); !strings.Contains(q, "s3a://bucket") || !strings.Contains(q, "SELECT DISTINCT") {
		t.Errorf("%s", q)
	}
}

func TestRefusals(t *testing.T) {
	one := []Step{{}}
	for name, err := range map[string]error{
		"an engine":    second(Query("oracle", "/x", one, nil)),
		"no step":      second(Query("duckdb", "/x", nil, nil)),
		"a percentile": second(Query("duckdb", "/x", one, []float64{100})),
		"too fine":     second(Query("duckdb", "/x", one, []float64{99.123456789})),
		"a folder":     second(Query("spark", "/x`y", one, nil)),
	} {
		if err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

func second(_ string, err error) error { return err }
