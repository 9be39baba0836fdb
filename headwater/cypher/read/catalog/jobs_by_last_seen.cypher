// Return a page of all jobs, the last seen first, and their total. $states keeps the jobs whose
// newest visible run has one of these states. This is a scan over all jobs.
// access: read
// params: $visible LIST<STRING>, $states LIST<STRING>, $skip INTEGER = 0, $limit INTEGER = 100
// returns: urns, total
// example: headwater cypher read/catalog/jobs_by_last_seen --param visible=null --param states=null
MATCH (j:Job)
WHERE j.deletedAt IS NULL AND ($visible IS NULL OR any(p IN $visible WHERE j.namespace =~ p))
  AND ($states IS NULL OR COLLECT {
  CALL (j) {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
    WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt IS NOT NULL
      AND EXISTS { (r)-[:RUN_OF]->(j) }
      AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC, r.urn LIMIT 1
    UNION
    MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
    USING INDEX SEEK e:RUN_OF(indexedUnder)
    WHERE e.indexedUnder = j.urn
      AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN r
  }
  RETURN r.status ORDER BY r.startedAt DESC, r.urn LIMIT 1
}[0] IN $states)
WITH j ORDER BY coalesce(j.lastSeen, datetime({epochSeconds: 0})) DESC, j.urn
WITH collect(j.urn) AS found
RETURN found[$skip..$skip + $limit] AS urns, size(found) AS total
