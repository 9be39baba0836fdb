// Count the failed runs that read/failures/failed_runs lists on all pages, by the same index.
// access: read
// params: $since DATETIME, $until DATETIME, $pipeline STRING = "", $namespace STRING = "",
//   $visible LIST<STRING> = null
// returns: count
// example: headwater failed-runs
MATCH (r:PipelineRun)
WHERE r.status = 'FAIL' AND r.failedAt >= $since AND r.failedAt < $until
  AND ($pipeline = '' OR r.pipelineName = $pipeline)
  AND ($namespace = '' OR r.namespace = $namespace)
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
RETURN count(*) AS count
