// Count the visible runs that started in a time window and ended, and those of them that failed.
// access: read
// params: $since DATETIME, $until DATETIME, $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: ended, failed, urns
// example: headwater figures failing-runs
MATCH (r:PipelineRun)
WHERE r.startedAt >= $since AND r.startedAt < $until AND r.status IN ['COMPLETE', 'FAIL', 'ABORT']
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
WITH r.status = 'FAIL' AS failed, r.urn AS urn, r.startedAt AS at
ORDER BY at DESC, urn
RETURN count(*) AS ended, count(CASE WHEN failed THEN 1 END) AS failed,
  collect(CASE WHEN failed THEN urn END)[..$limit] AS urns
