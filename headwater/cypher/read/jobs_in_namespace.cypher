// A page of the jobs of a namespace by name, and how many there are; with `states`, of those whose newest run is in one.
// access: read
// params: $namespace STRING, $states LIST<STRING>, $skip INTEGER = 0, $limit INTEGER = 100
// returns: urns, total
// example: headwater cypher read/jobs_in_namespace --param namespace=spark --param states=null
RETURN COLLECT {
  MATCH (j:Job)
  WHERE j.namespace = $namespace AND j.name IS NOT NULL AND ($states IS NULL OR COLLECT {
    MATCH (r:PipelineRun)-[:RUN_OF]->(j) RETURN r.status ORDER BY r.startedAt DESC, r.urn LIMIT 1
  }[0] IN $states)
  RETURN j.urn ORDER BY j.name, j.urn SKIP $skip LIMIT $limit
} AS urns, COUNT {
  MATCH (j:Job)
  WHERE j.namespace = $namespace AND j.name IS NOT NULL AND ($states IS NULL OR COLLECT {
    MATCH (r:PipelineRun)-[:RUN_OF]->(j) RETURN r.status ORDER BY r.startedAt DESC, r.urn LIMIT 1
  }[0] IN $states)
} AS total
