// Return the newest successful run of each of these jobs, and the newest complete version of each
// of these datasets.
// access: read
// params: $urns LIST<STRING>
// returns: urn, run, succeededAt
// example: run by `headwater detect`
UNWIND $urns AS urn
CALL (urn) {
  MATCH (j:Job {urn: urn})
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt IS NOT NULL
    AND r.status = 'COMPLETE'
  RETURN r.urn AS run, coalesce(r.finishedAt, r.startedAt) AS succeededAt
  ORDER BY r.startedAt DESC LIMIT 1
  UNION
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = urn AND a.complete = true AND a.createdAt IS NOT NULL
  WITH a ORDER BY a.createdAt DESC LIMIT 1
  RETURN [(r:PipelineRun)-[:PRODUCED]->(a) | r.urn][0] AS run, a.createdAt AS succeededAt
}
RETURN urn, run, succeededAt
