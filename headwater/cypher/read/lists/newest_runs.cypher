// Return the status of the newest visible run of each of the given jobs. $visible: the namespaces
// in which all jobs of a run must lie, as regular expressions; null: any.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null
// returns: urn, status
// example: headwater jobs
UNWIND $urns AS urn
MATCH (n:Job {urn: urn})
RETURN urn, COLLECT {
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
}[0] AS status
