// Count the visible runs that started in a time window and ended, and those of them whose events
// named data, or that contain other runs.
// access: read
// params: $since DATETIME, $until DATETIME, $visible LIST<STRING> = null
// returns: total, good
// example: headwater slo M2
MATCH (r:PipelineRun)
WHERE r.startedAt >= $since AND r.startedAt < $until AND r.endUnreported IS NULL
  AND r.status IN ['COMPLETE', 'FAIL', 'ABORT']
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
RETURN count(*) AS total, count(CASE WHEN EXISTS { (r)-[:PRODUCED|DROPPED|FEEDS]->() }
  OR EXISTS { (r)<-[:FEEDS]-() } OR EXISTS { (part:PipelineRun)-[:PART_OF]->(r)
    WHERE $visible IS NULL OR any(p IN $visible WHERE part.namespace =~ p)
      AND NOT EXISTS { (part)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) } } THEN 1 END) AS good
