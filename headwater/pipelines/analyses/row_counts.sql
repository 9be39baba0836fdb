-- Drift of the row counts of the versions of a dataset: the median of the last days against that of
-- the days before, in units of their usual spread. The spread is the median of the distances from the
-- median, times 1.4826 to be comparable to a standard deviation. Drifted: more than three spreads and
-- a fifth away. With fewer than three versions on either side there is no verdict.
WITH versions AS (
  SELECT u.dataset, u.run, max(u.rows) AS rows, max(r.ended) AS at
  FROM uses u JOIN runs r USING (run)
  WHERE u.side = 'write' AND u.rows IS NOT NULL AND r.status = 'COMPLETE'
    AND r.ended > :until - INTERVAL 35 DAYS AND r.ended <= :until
  GROUP BY u.dataset, u.run
),
sides AS (
  SELECT dataset, rows, at > :until - INTERVAL 7 DAYS AS is_recent FROM versions
),
medians AS (
  SELECT
    dataset,
    count_if(is_recent) AS recent_versions,
    count_if(NOT is_recent) AS before_versions,
    median(rows) FILTER (WHERE is_recent) AS recent_rows,
    median(rows) FILTER (WHERE NOT is_recent) AS before_rows
  FROM sides
  GROUP BY dataset
),
spreads AS (
  SELECT dataset, 1.4826 * median(abs(rows - before_rows)) AS spread
  FROM sides JOIN medians USING (dataset)
  WHERE NOT is_recent
  GROUP BY dataset
)
SELECT
  dataset, recent_versions, before_versions, recent_rows, before_rows, spread,
  recent_versions >= 3 AND before_versions >= 3
    AND abs(recent_rows - before_rows) > greatest(3 * spread, 0.2 * before_rows) AS drifted
FROM medians LEFT JOIN spreads USING (dataset)
