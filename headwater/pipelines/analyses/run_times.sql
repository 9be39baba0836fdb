-- Jobs whose runs take longer than before, evaluated as row counts are: the median of the last days
-- against that of the days before. Slower: more than three spreads and a fifth, and at least a second.
WITH times AS (
  SELECT job, unix_millis(ended) / 1000.0D - unix_millis(started) / 1000.0D AS seconds,
    ended > :until - INTERVAL 7 DAYS AS is_recent
  FROM runs
  WHERE status = 'COMPLETE' AND started <= ended AND ended > :until - INTERVAL 35 DAYS AND ended <= :until
),
medians AS (
  SELECT
    job,
    count_if(is_recent) AS recent_runs,
    count_if(NOT is_recent) AS before_runs,
    median(seconds) FILTER (WHERE is_recent) AS recent_seconds,
    median(seconds) FILTER (WHERE NOT is_recent) AS before_seconds
  FROM times
  GROUP BY job
),
spreads AS (
  SELECT job, 1.4826 * median(abs(seconds - before_seconds)) AS spread
  FROM times JOIN medians USING (job)
  WHERE NOT is_recent
  GROUP BY job
)
SELECT
  job, recent_runs, before_runs, recent_seconds, before_seconds, spread,
  recent_runs >= 3 AND before_runs >= 3
    AND recent_seconds - before_seconds > greatest(3 * spread, 0.2 * before_seconds, 1) AS slower
FROM medians LEFT JOIN spreads USING (job)
