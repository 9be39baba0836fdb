// Return the outputs that the given failed runs should have written. These are the datasets that
// each run wrote and the current outputs of its job. Each comes with its newest complete version
// before the failure, or else its source. It also comes with the first later successful run of the
// job that wrote it. Each run comes with the first later attempt that succeeded and with the next
// success of its job.
// access: read
// params: $urns LIST<STRING>
// returns: urn, failedAt, job, outputs, retry, next
// example: headwater cypher read/failures/failed_run_outputs --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
WITH r, coalesce(r.failedAt, r.finishedAt, r.startedAt) AS failedAt, COLLECT {
  MATCH (r)-[:RUN_OF]->(j:Job)
  RETURN j ORDER BY (j.name = r.pipelineName AND j.namespace = r.namespace) DESC, j.urn LIMIT 1
}[0] AS job
WHERE failedAt IS NOT NULL
WITH r, failedAt, job, COLLECT {
  MATCH (r)-[:PRODUCED]->(a:Artifact)
  RETURN a.dataset AS dataset
  UNION
  MATCH (job)-[p:PRODUCED]->(d:Dataset)
  WHERE p.current
  RETURN d.urn AS dataset
} AS datasets
RETURN r.urn AS urn, failedAt, job.urn AS job, COLLECT {
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
    UNWIND ['both', 'writes'] AS sides
    CALL (failedAt, job, dataset, sides) {
      MATCH (n:PipelineRun)
      USING INDEX SEEK n:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
      WHERE n.namespace = job.namespace AND n.pipelineName = job.name AND n.reportedSides = sides
        AND n.finishedAt > failedAt
        AND EXISTS { (n)-[:PRODUCED]->(:Artifact {dataset: dataset}) }
      RETURN n ORDER BY n.namespace, n.pipelineName, n.reportedSides, n.finishedAt LIMIT 1
    }
    RETURN {run: n.urn, at: n.finishedAt} ORDER BY n.finishedAt LIMIT 1
  }[0]} ORDER BY dataset
} AS outputs, COLLECT {
  MATCH (r) (()<-[:RETRY_OF]-()){1,50} (n:PipelineRun)
  WHERE n.status = 'COMPLETE'
  RETURN {run: n.urn, at: n.finishedAt} ORDER BY n.finishedAt, n.urn LIMIT 1
}[0] AS retry, COLLECT {
  UNWIND ['both', 'reads'] AS sides
  CALL (failedAt, job, sides) {
    MATCH (n:PipelineRun)
    USING INDEX SEEK n:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
    WHERE n.namespace = job.namespace AND n.pipelineName = job.name AND n.reportedSides = sides
      AND n.finishedAt > failedAt
    RETURN n ORDER BY n.namespace, n.pipelineName, n.reportedSides, n.finishedAt LIMIT 1
  }
  RETURN {run: n.urn, at: n.finishedAt} ORDER BY n.finishedAt LIMIT 1
}[0] AS next
