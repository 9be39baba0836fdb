// For each given dataset, return its newest complete version, the newest unsuccessful run after it
// of a job that writes the dataset, and the owners of both. Only the newest runs of a job are
// examined.
// access: read
// params: $urns LIST<STRING>, $runs INTEGER
// returns: dataset, name, newest, newestAt, failed, owners
// example: run by `headwater trace`
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
WITH d, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = d.urn AND a.complete = true AND a.createdAt IS NOT NULL
  RETURN a ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 1
}[0] AS newest
RETURN d.urn AS dataset, d.name AS name, newest.urn AS newest, newest.createdAt AS newestAt,
  d.owners AS owners, COLLECT {
  MATCH (j:Job)-[p:PRODUCED]->(d)
  WHERE p.current
  CALL (j) {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
    WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt IS NOT NULL
    RETURN r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT $runs
  }
  WITH j, r, coalesce(r.failedAt, r.finishedAt) AS at
  WHERE r.status IN ['FAIL', 'ABORT'] AND at > coalesce(newest.createdAt, at - duration('PT1S'))
  RETURN {run: r.urn, runId: r.runId, job: j.urn, status: r.status, at: at, error: r.error,
    owners: j.owners} ORDER BY at DESC, r.urn LIMIT 1
}[0] AS failed
