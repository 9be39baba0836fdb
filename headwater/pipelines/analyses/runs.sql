-- One row for each run: its start, end and outcome. Of several outcomes the worst counts, as in the
-- graph. Spark's listener sends the end of a job on RDDs that wrote nothing only if it failed, so
-- such a run without an end is `end_unreported`, as in the graph.
SELECT
  run,
  job,
  min_by(producer, at) AS producer,
  min(at) FILTER (WHERE type = 'START') AS started,
  max(at) FILTER (WHERE type IN ('COMPLETE', 'FAIL', 'ABORT')) AS ended,
  CASE
    WHEN count_if(type = 'FAIL') > 0 THEN 'FAIL'
    WHEN count_if(type = 'ABORT') > 0 THEN 'ABORT'
    WHEN count_if(type = 'COMPLETE') > 0 THEN 'COMPLETE'
    ELSE 'RUNNING'
  END AS status,
  min(at) AS first,
  bool_or(is_rdd_job) AND bool_and(size(outputs) = 0) AND count_if(type = 'START') > 0
    AND count_if(type IN ('COMPLETE', 'FAIL', 'ABORT')) = 0 AS end_unreported
FROM events JOIN jobs USING (job_namespace, job_name)
GROUP BY run, job
