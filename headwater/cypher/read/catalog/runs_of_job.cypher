// Return a page of the runs of a job, newest first, and their total. $visible: the namespaces in
// which
// all jobs of a run must lie, as regular expressions.
// access: read
// params: $urn STRING, $visible LIST<STRING> = null, $skip INTEGER = 0, $limit INTEGER = 100
// returns: urns, total
// example: headwater cypher read/catalog/runs_of_job --param urn=job:spark:flights.clean
MATCH (j:Job {urn: $urn})
RETURN COLLECT {
  CALL (j) {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
    WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt IS NOT NULL
      AND EXISTS { (r)-[:RUN_OF]->(j) }
      AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN r.urn AS run, r.startedAt AS at
    ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC, r.urn LIMIT $skip + $limit
    UNION
    MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
    USING INDEX SEEK e:RUN_OF(indexedUnder)
    WHERE e.indexedUnder = j.urn
      AND ($visible IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
        WHERE none(p IN $visible WHERE other.namespace =~ p) })
    RETURN r.urn AS run, r.startedAt AS at
  }
  RETURN run ORDER BY at DESC, run SKIP $skip LIMIT $limit
} AS urns, CASE WHEN $visible IS NULL THEN COUNT { ()-[:RUN_OF]->(j) } ELSE COUNT {
  MATCH (r:PipelineRun)-[:RUN_OF]->(j)
  WHERE NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
    WHERE none(p IN $visible WHERE other.namespace =~ p) }
} END AS total
