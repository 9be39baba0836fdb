// A page of the runs of a job, newest first, and how many there are.
// access: read
// params: $urn STRING, $skip INTEGER = 0, $limit INTEGER = 100
// returns: urns, total
// example: headwater cypher read/runs_of_job --param urn=job:spark:flights.clean
MATCH (j:Job {urn: $urn})
RETURN COLLECT {
  MATCH (r:PipelineRun)-[:RUN_OF]->(j)
  RETURN r.urn ORDER BY r.startedAt DESC, r.urn SKIP $skip LIMIT $limit
} AS urns, COUNT { (:PipelineRun)-[:RUN_OF]->(j) } AS total
