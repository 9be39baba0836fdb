// Return the start, end, status and jobs of the given runs.
// access: read
// params: $urns LIST<STRING>
// returns: urn, startedAt, endedAt, status, jobs
// example: headwater cypher read/failures/run_outcomes --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
RETURN urn, coalesce(r.startedAt, r.failedAt, r.finishedAt) AS startedAt,
  coalesce(r.finishedAt, r.failedAt) AS endedAt,
  r.status AS status, COLLECT {
    MATCH (r)-[:RUN_OF]->(j:Job)
    RETURN j.urn ORDER BY (j.name = r.pipelineName AND j.namespace = r.namespace) DESC, j.urn
  } AS jobs
