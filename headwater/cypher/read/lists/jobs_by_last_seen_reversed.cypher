// Return a page of jobs, oldest observation first. They were last seen at $since or later and
// before $until. The page starts after the row of $cursorTime and $cursorUrn. $status: only jobs
// whose newest visible run has this status. This is a scan over all jobs, because every event would
// change an index of that time.
// access: read
// params: $namespace STRING = "", $since DATETIME, $until DATETIME, $owner STRING = "", $tag
//   STRING = "", $status STRING = "", $visible LIST<STRING> = null, $cursorTime DATETIME,
//   $cursorUrn STRING = "", $limit INTEGER = 20
// returns: urn, at, properties
// example: headwater jobs
MATCH (n:Job)
WITH n, coalesce(n.lastSeen, datetime({epochSeconds: 0})) AS at
WHERE n.deletedAt IS NULL AND at >= $since AND at < $until
  AND ($namespace = '' OR n.namespace = $namespace)
  AND (at > $cursorTime OR (at = $cursorTime AND n.urn < $cursorUrn))
  AND ($owner = '' OR $owner IN n.owners)
  AND ($tag = '' OR any(t IN n.tags
    WHERE t = $tag OR t + '=true' = $tag OR t STARTS WITH $tag + '='))
  AND ($visible IS NULL OR any(p IN $visible WHERE n.namespace =~ p))
  AND ($status = '' OR $status = COLLECT {
  CALL (n) {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
    WHERE r.namespace = n.namespace AND r.pipelineName = n.name AND r.startedAt IS NOT NULL
      AND EXISTS { (r)-[:RUN_OF]->(n) }
      AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC, r.urn LIMIT 1
    UNION
    MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
    USING INDEX SEEK e:RUN_OF(indexedUnder)
    WHERE e.indexedUnder = n.urn AND r.startedAt IS NOT NULL
      AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN r
  }
  RETURN r.status ORDER BY r.startedAt DESC, r.urn LIMIT 1
}[0])
RETURN n.urn AS urn, at, n {.*, facts: null} AS properties
ORDER BY at, urn DESC
LIMIT $limit
