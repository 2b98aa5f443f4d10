-- The table steps for percentiles.sql, with a tenth of each schedule cut.
CREATE TABLE steps AS
  SELECT s.step, s.repeat, s.started_ns, s.duration_ns // 10 AS warmup_ns
  FROM (SELECT unnest(steps) AS s FROM read_json(getvariable('run') || '/run.json'));
