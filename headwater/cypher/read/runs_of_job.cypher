// A page of the runs of a job, newest first, and how many there are. $sees: of which namespaces all jobs of a run must be.
// access: read
// params: $urn STRING, $sees LIST<STRING> = null, $skip INTEGER = 0, $limit INTEGER = 100
// returns: urns, total
// example: headwater cypher read/runs_of_job --param urn=job:spark:flights.clean
MATCH (j:Job {urn: $urn})
RETURN COLLECT {
  MATCH (r:PipelineRun)-[:RUN_OF]->(j)
  WHERE $sees IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job) WHERE none(p IN $sees WHERE other.namespace =~ p) }
  RETURN r.urn ORDER BY r.startedAt DESC, r.urn SKIP $skip LIMIT $limit
} AS urns, COUNT {
  MATCH (r:PipelineRun)-[:RUN_OF]->(j)
  WHERE $sees IS NULL OR NOT EXISTS { (r)-[:RUN_OF]->(other:Job) WHERE none(p IN $sees WHERE other.namespace =~ p) }
} AS total
