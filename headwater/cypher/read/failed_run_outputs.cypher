// What some failed runs should have made: the datasets each wrote and those that its job produces now; for each the
// newest complete version from before the failure (or else the source) and the first later run of that job that
// succeeded and wrote it. Beside these the first attempt after it that succeeded, and the first later success of its job.
// access: read
// params: $urns LIST<STRING>
// returns: urn, failedAt, job, outputs, retry, next
// example: headwater cypher read/failed_run_outputs --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
WITH r, coalesce(r.failedAt, r.finishedAt, r.startedAt) AS failedAt, COLLECT {
  MATCH (r)-[:RUN_OF]->(j:Job)
  RETURN j.urn ORDER BY (j.name = r.pipelineName AND j.namespace = r.namespace) DESC, j.urn LIMIT 1
}[0] AS job
WHERE failedAt IS NOT NULL
WITH r, failedAt, job, COLLECT {
  MATCH (r)-[:PRODUCED]->(a:Artifact)
  RETURN a.dataset AS dataset
  UNION
  MATCH (:Job {urn: job})-[p:PRODUCED]->(d:Dataset)
  WHERE p.current
  RETURN d.urn AS dataset
} AS datasets
RETURN r.urn AS urn, failedAt, job, COLLECT {
  UNWIND datasets AS dataset
  RETURN {dataset: dataset, old: coalesce(COLLECT {
    MATCH (a:Artifact)
    USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
    WHERE a.dataset = dataset AND a.complete = true AND a.createdAt <= failedAt
    RETURN a.urn ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 1
  }[0], COLLECT {
    MATCH (s:Source)
    USING INDEX SEEK s:Source(dataset)
    WHERE s.dataset = dataset
    RETURN s.urn ORDER BY s.urn LIMIT 1
  }[0]), renewed: COLLECT {
    MATCH (n:PipelineRun)
    USING INDEX SEEK n:PipelineRun(writerOf, finishedAt)
    WHERE n.writerOf = job AND n.finishedAt > failedAt AND EXISTS { (n)-[:PRODUCED]->(:Artifact {dataset: dataset}) }
    RETURN {run: n.urn, at: n.finishedAt} ORDER BY n.writerOf, n.finishedAt LIMIT 1
  }[0]} ORDER BY dataset
} AS outputs, COLLECT {
  MATCH (r) (()<-[:RETRY_OF]-()){1,50} (n:PipelineRun)
  WHERE n.status = 'COMPLETE'
  RETURN {run: n.urn, at: n.finishedAt} ORDER BY n.finishedAt, n.urn LIMIT 1
}[0] AS retry, COLLECT {
  MATCH (n:PipelineRun)
  USING INDEX SEEK n:PipelineRun(readerOf, finishedAt)
  WHERE n.readerOf = job AND n.finishedAt > failedAt
  RETURN {run: n.urn, at: n.finishedAt} ORDER BY n.readerOf, n.finishedAt LIMIT 1
}[0] AS next
