// Return a page of the reversed list of jobs in the order of their namespaces and names, from the
// index of both. They were last seen at $since or later and before $until. The page starts after
// the row of $cursorNamespace, $cursorName and $cursorUrn. $status: only jobs whose newest visible
// run has this status.
// access: read
// params: $firstNamespace STRING = "", $lastNamespace STRING, $since DATETIME, $until DATETIME,
//   $owner STRING = "", $tag STRING = "", $status STRING = "", $visible LIST<STRING> = null,
//   $cursorNamespace STRING = "", $cursorName STRING = "", $cursorUrn STRING = "", $limit INTEGER =
//   20
// returns: urn, namespace, name, properties
// example: headwater jobs
MATCH (n:Job)
USING INDEX SEEK n:Job(namespace, name)
WHERE n.namespace >= $firstNamespace AND n.namespace <= $lastNamespace AND n.name IS NOT NULL
  AND n.deletedAt IS NULL
  AND (n.namespace < $cursorNamespace OR (n.namespace = $cursorNamespace
    AND (n.name < $cursorName OR (n.name = $cursorName AND n.urn < $cursorUrn))))
  AND coalesce(n.lastSeen, datetime({epochSeconds: 0})) >= $since
  AND coalesce(n.lastSeen, datetime({epochSeconds: 0})) < $until
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
RETURN n.urn AS urn, n.namespace AS namespace, n.name AS name,
  n {.*, facts: null} AS properties
ORDER BY namespace DESC, name DESC, urn DESC
LIMIT $limit
