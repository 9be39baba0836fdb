// Return the versions that the given runs read and wrote, the start and the status of each run, and
// its job.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 1000
// returns: urn, startedAt, status, job, inputs, outputs
// example: headwater cypher read/failures/run_inputs_and_outputs --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
RETURN urn, coalesce(r.startedAt, r.failedAt, r.finishedAt) AS startedAt, r.status AS status,
  COLLECT {
  MATCH (r)-[:RUN_OF]->(j:Job)
  RETURN j.urn ORDER BY (j.name = r.pipelineName AND j.namespace = r.namespace) DESC, j.urn LIMIT 1
}[0] AS job, COLLECT {
  MATCH (v:Source|Artifact)-[:FEEDS]->(r)
  RETURN {urn: v.urn, dataset: v.dataset} ORDER BY v.dataset, v.urn LIMIT $limit
} AS inputs, COLLECT {
  MATCH (r)-[:PRODUCED]->(a:Artifact)
  RETURN {urn: a.urn, dataset: a.dataset, at: a.createdAt} ORDER BY a.dataset, a.urn LIMIT $limit
} AS outputs
