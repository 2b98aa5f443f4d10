-- End-to-end latency per step and repeat from the Parquet parts alone.
-- The variable run is the run's folder. The table steps (step, repeat,
-- started_ns, warmup_ns) says where each step began, from run.json, and how
-- much of its schedule is cut.
WITH sent AS (
  SELECT step, repeat, producer, seq, intended_ns, status
  FROM read_parquet(getvariable('run') || '/sent/step=*/repeat=*/*.parquet', hive_partitioning = true)
  JOIN steps USING (step, repeat)
  WHERE intended_ns >= started_ns + warmup_ns
), delivered AS ( -- the first delivery to each consumer group
  SELECT step, repeat, "group", producer, seq, min(received_ns) AS received_ns
  FROM read_parquet(getvariable('run') || '/received/step=*/repeat=*/*.parquet', hive_partitioning = true)
  GROUP BY ALL
), awaited AS ( -- a message is awaited once by each group
  SELECT * FROM sent JOIN (SELECT DISTINCT step, repeat, "group" FROM delivered) USING (step, repeat)
), latencies AS ( -- null: lost or overrun, which ranks as infinite
  SELECT step, repeat, received_ns - intended_ns AS latency_ns
  FROM awaited LEFT JOIN delivered USING (step, repeat, "group", producer, seq)
  WHERE received_ns IS NOT NULL OR status IN ('acked', 'overrun')
), ranked AS (
  SELECT step, repeat, latency_ns,
    row_number() OVER (PARTITION BY step, repeat ORDER BY latency_ns NULLS LAST) AS rank,
    count(*) OVER (PARTITION BY step, repeat) AS n
  FROM latencies
)
SELECT step, repeat, any_value(n) AS n,
  max(latency_ns) FILTER (rank = (50 * n + 99) // 100) AS p50_ns, -- nearest rank: the value at ceil(q * n)
  max(latency_ns) FILTER (rank = (99 * n + 99) // 100) AS p99_ns
FROM ranked GROUP BY step, repeat ORDER BY step, repeat;
