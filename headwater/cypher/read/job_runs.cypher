// The runs of some jobs, newest first.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20
// returns: urn, runs
// example: headwater cypher read/job_runs --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
RETURN urn, COLLECT {
  MATCH (r:PipelineRun)-[:RUN_OF]->(j)
  RETURN r.urn ORDER BY r.startedAt DESC, r.urn LIMIT $limit
} AS runs
