// Count the visible runs that started in a time window, ended, belong to no other run and were not
// retried, and those of them that completed.
// access: read
// params: $since DATETIME, $until DATETIME, $visible LIST<STRING> = null
// returns: total, good
// example: headwater slo run-success
MATCH (r:PipelineRun)
WHERE r.startedAt >= $since AND r.startedAt < $until AND r.endUnreported IS NULL
  AND r.status IN ['COMPLETE', 'FAIL', 'ABORT'] AND r.retried IS NULL
  AND NOT EXISTS { (r)-[:PART_OF]->(:PipelineRun) }
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
RETURN count(*) AS total, count(CASE WHEN r.status = 'COMPLETE' THEN 1 END) AS good
