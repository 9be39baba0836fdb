// Count the jobs that the lists of jobs hold on all pages. This is a scan over the jobs of the
// namespaces.
// access: read
// params: $firstNamespace STRING = "", $lastNamespace STRING, $since DATETIME, $until DATETIME,
//   $owner STRING = "", $tag STRING = "", $status STRING = "", $visible LIST<STRING> = null
// returns: count
// example: headwater jobs
MATCH (n:Job)
USING INDEX SEEK n:Job(namespace, name)
WHERE n.namespace >= $firstNamespace AND n.namespace <= $lastNamespace AND n.name IS NOT NULL
  AND n.deletedAt IS NULL
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
RETURN count(*) AS count
