-- The readers of each dataset and the cost of producing it in the last thirty days.
-- The seconds of a run are split evenly among the datasets that it wrote. Unused: written in that
-- time, and not read in it.
WITH recent AS (
  SELECT DISTINCT u.run, u.job, u.side, u.dataset, r.started, r.ended
  FROM uses u JOIN runs r USING (run)
  WHERE coalesce(r.ended, r.started, r.first) > :until - INTERVAL 30 DAYS AND r.first <= :until
),
shares AS (
  SELECT *, CASE WHEN side = 'write' AND ended >= started
    THEN (unix_millis(ended) - unix_millis(started)) / 1000.0D / count(*) OVER (PARTITION BY run, side)
    ELSE 0.0D END AS seconds
  FROM recent
)
SELECT
  dataset,
  count(DISTINCT run) FILTER (WHERE side = 'read') AS reads,
  count(DISTINCT job) FILTER (WHERE side = 'read') AS readers,
  count(DISTINCT run) FILTER (WHERE side = 'write') AS writes,
  max(ended) FILTER (WHERE side = 'write') AS last_written,
  sum(seconds) AS seconds,
  count_if(side = 'read') = 0 AS unused
FROM shares
GROUP BY dataset
