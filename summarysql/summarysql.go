// Package summarysql writes the query that computes the end-to-end part of a
// summary from the raw Parquet of a run: for logs that outgrow one machine.
//
// It states in SQL what package analysis does in Go, for engines that read
// Parquet with no code of ours; tests hold the two against each other. It reads
// nothing and runs nothing.
package summarysql

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Step is one repeat of a step, and its cut by intended time: messages from
// FromNs on and before UntilNs are ranked (ns since the epoch). Counts are of all.
type Step struct {
	Step, Repeat    int
	FromNs, UntilNs int64
	// Groups that each message was meant for.
	Groups []string
}

// Engines are those that a query is written for.
var Engines = []string{"duckdb", "spark", "trino", "athena"}

// dialect is how an engine writes what SQL leaves open.
type dialect struct {
	quote  string // of names
	divide string // of whole numbers
	// table is where the rows of a table come from.
	table func(location, table string) string
	// preamble comes before the query.
	preamble func(location string) string
}

var dialects = map[string]dialect{
	"duckdb": {`"`, "//", func(location, table string) string {
		return fmt.Sprintf("read_parquet(%s, hive_partitioning = true, union_by_name = true)", text(location+"/"+table+"/step=*/repeat=*/*.parquet"))
	}, func(location string) string {
		if strings.HasPrefix(location, "s3://") {
			return "-- Before: INSTALL httpfs; LOAD httpfs; and CREATE SECRET (TYPE s3, …) with your keys, region and endpoint.\n"
		}
		return ""
	}},
	"spark": {"`", "DIV", func(location, table string) string {
		// Spark finds step and repeat in the paths; Hadoop names its S3 client s3a.
		return "parquet.`" + strings.Replace(location, "s3://", "s3a://", 1) + "/" + table + "`"
	}, func(string) string { return "" }},
	"trino":  {`"`, "/", tableName, trinoTables},
	"athena": {`"`, "/", tableName, athenaTables},
}

func tableName(_, table string) string { return "queuebench_" + table }

// text is a literal.
func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// columns of the two tables that a query needs.
var columns = map[string][]string{
	"sent":     {"producer INT", "seq BIGINT", "intended_ns BIGINT", "status STRING"},
	"received": {"GROUP STRING", "producer INT", "seq BIGINT", "received_ns BIGINT"},
}

func trinoTables(location string) string {
	var b strings.Builder
	b.WriteString("-- Once, in a catalog of the Hive connector:\n")
	for _, table := range []string{"sent", "received"} {
		list := strings.NewReplacer("GROUP", `"group"`, "STRING", "VARCHAR").Replace(strings.Join(columns[table], ", "))
		fmt.Fprintf(&b, "--   CREATE TABLE queuebench_%s (%s, step INT, \"repeat\" INT)\n--     WITH (external_location = %s, format = 'PARQUET', partitioned_by = ARRAY['step', 'repeat']);\n", table, list, text(location+"/"+table))
		fmt.Fprintf(&b, "--   CALL system.sync_partition_metadata(CURRENT_SCHEMA, 'queuebench_%s', 'ADD');\n", table)
	}
	return b.String()
}

func athenaTables(location string) string {
	var b strings.Builder
	b.WriteString("-- Once (Parquet's columns are found by their names):\n")
	for _, table := range []string{"sent", "received"} {
		list := strings.ReplaceAll(strings.Join(columns[table], ", "), "GROUP", "`group`")
		fmt.Fprintf(&b, "--   CREATE EXTERNAL TABLE queuebench_%s (%s) PARTITIONED BY (step INT, `repeat` INT)\n--     STORED AS PARQUET LOCATION %s;\n--   MSCK REPAIR TABLE queuebench_%s;\n", table, list, text(location+"/"+table+"/"), table)
	}
	return b.String()
}

// Query is the query of an engine over a run at a location (a folder, or
// s3://bucket/prefix), with percentiles in percent. A row is a step and repeat;
// a percentile that falls on a message that never came is null. Percentiles are
// those of a histogram whose buckets are 0.05 % wide: to rank all messages one by
// one, an engine would bring them to one place and sort them there.
func Query(engine, location string, steps []Step, percentiles []float64) (string, error) {
	d, ok := dialects[engine]
	if !ok {
		return "", fmt.Errorf("engine %q: say one of %s", engine, strings.Join(Engines, ", "))
	}
	if len(steps) == 0 {
		return "", fmt.Errorf("the run has no step")
	}
	if engine == "spark" && strings.ContainsAny(location, "`") {
		return "", fmt.Errorf("%s: Spark cannot name a folder with a backquote", location)
	}
	q := func(name string) string { return d.quote + name + d.quote }
	var b strings.Builder
	b.WriteString("-- The end-to-end latency and the accounting of a run, from its raw log: what\n-- `analyze summary` computes. Times in ns; a percentile is nearest-rank, at most\n-- 0.05 % above the value of that rank, and null where that never came.\n")
	b.WriteString(d.preamble(location))
	b.WriteString("WITH steps AS ( -- and the cut of each, by intended time\n")
	for i, s := range steps {
		b.WriteString(union(i))
		fmt.Fprintf(&b, "SELECT %d AS step, %d AS %s, CAST(%d AS BIGINT) AS from_ns, CAST(%d AS BIGINT) AS until_ns\n", s.Step, s.Repeat, q("repeat"), s.FromNs, s.UntilNs)
	}
	b.WriteString("), consumer_groups AS (\n")
	if slices.ContainsFunc(steps, func(s Step) bool { return len(s.Groups) == 0 }) {
		fmt.Fprintf(&b, "  SELECT DISTINCT step, %s, %s AS group_name FROM %s\n", q("repeat"), q("group"), d.table(location, "received"))
	} else {
		n := 0
		for _, s := range steps {
			for _, g := range s.Groups {
				b.WriteString(union(n))
				fmt.Fprintf(&b, "SELECT %d AS step, %d AS %s, %s AS group_name\n", s.Step, s.Repeat, q("repeat"), text(g))
				n++
			}
		}
	}
	var ranks strings.Builder
	for _, p := range percentiles {
		num, den, err := fraction(p)
		if err != nil {
			return "", err
		}
		name := "p" + strings.ReplaceAll(fmt.Sprint(p), ".", "_") + "_ns"
		fmt.Fprintf(&ranks, ",\n    MIN(CASE WHEN bucket IS NOT NULL AND rank_no >= (%d * all_n + %d) %s %d THEN high_ns END) AS %s", num, den-1, d.divide, den, name)
	}
	body := strings.NewReplacer("{sent}", d.table(location, "sent"), "{received}", d.table(location, "received"), "{repeat}", q("repeat"), "{group}", q("group"), "{ranks}", ranks.String()).Replace(core)
	b.WriteString(body)
	for _, p := range percentiles {
		fmt.Fprintf(&b, ",\n  l.p%s_ns", strings.ReplaceAll(fmt.Sprint(p), ".", "_"))
	}
	b.WriteString(strings.ReplaceAll(tail, "{repeat}", q("repeat")))
	return b.String(), nil
}

func union(i int) string {
	if i == 0 {
		return "  "
	}
	return "  UNION ALL "
}

// core is the query from the first delivery of each message on. A CTE of one
// engine's words would be shorter; this one runs in all.
const core = `), sent AS (
  SELECT step, {repeat}, producer, seq, intended_ns, status FROM {sent}
), delivered AS ( -- the first delivery to each consumer group
  SELECT step, {repeat}, {group} AS group_name, producer, seq, MIN(received_ns) AS received_ns, COUNT(*) AS deliveries
  FROM {received}
  GROUP BY step, {repeat}, {group}, producer, seq
), awaited AS ( -- each message once for each group
  SELECT s.step, s.{repeat}, s.intended_ns, s.status, d.received_ns, d.deliveries
  FROM sent s
  JOIN consumer_groups g ON g.step = s.step AND g.{repeat} = s.{repeat}
  LEFT JOIN delivered d ON d.step = s.step AND d.{repeat} = s.{repeat} AND d.group_name = g.group_name
    AND d.producer = s.producer AND d.seq = s.seq
), fates AS ( -- of all messages, the warm-up included
  SELECT step, {repeat}, COUNT(*) AS scheduled,
    SUM(CASE WHEN status <> 'overrun' THEN 1 ELSE 0 END) AS attempted,
    SUM(CASE WHEN status = 'acked' THEN 1 ELSE 0 END) AS acked,
    SUM(CASE WHEN status = 'failed' THEN 1 ELSE 0 END) AS failed,
    SUM(CASE WHEN status = 'unconfirmed' THEN 1 ELSE 0 END) AS unconfirmed,
    SUM(CASE WHEN status = 'overrun' THEN 1 ELSE 0 END) AS overrun
  FROM sent GROUP BY step, {repeat}
), latencies AS ( -- of those after the cut; null: lost or overrun, which ranks as infinite
  SELECT a.step, a.{repeat}, a.received_ns, a.status, a.deliveries,
    CASE WHEN a.intended_ns >= s.from_ns AND a.intended_ns < s.until_ns
      AND (a.received_ns IS NOT NULL OR a.status IN ('acked', 'overrun')) THEN 1 ELSE 0 END AS ranked,
    CASE WHEN a.intended_ns >= s.from_ns AND a.intended_ns < s.until_ns THEN a.received_ns - a.intended_ns END AS latency_ns
  FROM awaited a JOIN steps s ON s.step = a.step AND s.{repeat} = a.{repeat}
), bucketed AS ( -- values within 0.05 % of each other are ranked together, so that no engine has to sort all
  SELECT step, {repeat}, received_ns, status, deliveries, ranked, latency_ns,
    CASE WHEN latency_ns > 0 THEN 1 + CAST(FLOOR(LN(CAST(latency_ns AS DOUBLE)) * 2000) AS INTEGER)
      WHEN latency_ns < 0 THEN -1 - CAST(FLOOR(LN(CAST(-latency_ns AS DOUBLE)) * 2000) AS INTEGER)
      WHEN latency_ns = 0 THEN 0 END AS bucket
  FROM latencies
), buckets AS ( -- what is not ranked, or infinite, has no bucket
  SELECT step, {repeat}, bucket, COUNT(received_ns) AS received,
    SUM(CASE WHEN status = 'acked' AND received_ns IS NULL THEN 1 ELSE 0 END) AS lost,
    SUM(COALESCE(deliveries, 1) - 1) AS duplicates,
    SUM(ranked) AS n, COUNT(latency_ns) AS came, MIN(latency_ns) AS low_ns, MAX(latency_ns) AS high_ns, SUM(CAST(latency_ns AS DOUBLE)) AS sum_ns
  FROM bucketed GROUP BY step, {repeat}, bucket
), ranks AS (
  SELECT step, {repeat}, bucket, received, lost, duplicates, n, came, low_ns, high_ns, sum_ns,
    SUM(n) OVER (PARTITION BY step, {repeat}) AS all_n,
    SUM(came) OVER (PARTITION BY step, {repeat} ORDER BY CASE WHEN bucket IS NULL THEN 1 ELSE 0 END, bucket
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS rank_no
  FROM buckets
), latency AS ( -- over all groups
  SELECT step, {repeat}, SUM(received) AS received, SUM(lost) AS lost, SUM(duplicates) AS duplicates,
    SUM(n) AS n, SUM(n) - SUM(came) AS infinite,
    MIN(low_ns) AS min_ns, SUM(sum_ns) / SUM(came) AS mean_ns, MAX(high_ns) AS max_ns{ranks}
  FROM ranks GROUP BY step, {repeat}
)
SELECT f.step, f.{repeat}, f.scheduled, f.attempted, f.acked, f.failed, f.unconfirmed, f.overrun,
  l.received, l.lost, l.duplicates, l.n, l.infinite, l.min_ns, l.mean_ns, l.max_ns`

const tail = `
FROM fates f
LEFT JOIN latency l ON l.step = f.step AND l.{repeat} = f.{repeat}
ORDER BY f.step, f.{repeat}
`

// fraction is a percentile in percent as a quantile of whole numbers.
func fraction(percent float64) (num, den int64, err error) {
	r, ok := new(big.Rat).SetString(fmt.Sprint(percent) + "/100")
	if !ok {
		r, ok = new(big.Rat).SetString(fmt.Sprintf("%.10f", percent))
		if ok {
			r.Quo(r, big.NewRat(100, 1))
		}
	}
	if !ok || r.Sign() <= 0 || r.Cmp(big.NewRat(1, 1)) >= 0 || !r.Num().IsInt64() || !r.Denom().IsInt64() || r.Denom().Int64() > 1e9 {
		return 0, 0, fmt.Errorf("percentile %v: between 0 and 100, with at most 7 decimals", percent)
	}
	return r.Num().Int64(), r.Denom().Int64(), nil
}
