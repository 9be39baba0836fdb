// Count the jobs that contain no others and were known before $until, and those with a run that
// started in a time window; return the first of these. A job on Spark's RDDs counts only if it
// writes. This is a scan over all jobs, to count them.
// access: read
// params: $since DATETIME, $until DATETIME, $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: jobs, active, urns
// example: headwater figures active-pipelines
MATCH (j:Job)
WHERE j.deletedAt IS NULL AND coalesce(j.firstSeen < $until, true)
  AND ($visible IS NULL OR any(p IN $visible WHERE j.namespace =~ p))
  AND NOT EXISTS { (part:Job)-[:PART_OF]->(j)
    WHERE $visible IS NULL OR any(p IN $visible WHERE part.namespace =~ p) }
WITH j, EXISTS { MATCH (j)-[p:PRODUCED|FEEDS]->() WHERE p.current } AS makes
WHERE makes OR j.type IS NULL OR j.type <> 'RDD_JOB'
WITH j, EXISTS {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
    WHERE r.namespace = j.namespace AND r.pipelineName = j.name
      AND r.startedAt >= $since AND r.startedAt < $until
      AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
  } OR EXISTS {
    MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
    USING INDEX SEEK e:RUN_OF(indexedUnder)
    WHERE e.indexedUnder = j.urn AND r.startedAt >= $since AND r.startedAt < $until
      AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
  } AS active
ORDER BY j.urn
RETURN count(j) AS jobs, count(CASE WHEN active THEN 1 END) AS active,
  collect(CASE WHEN active THEN j.urn END)[..$limit] AS urns
