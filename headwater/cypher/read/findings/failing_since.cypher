// Return the first failed run after the newest success before an instant, of each given job. Each
// row of $rows has the urn of a job and the instant `before`. A job that had no success has its
// first failed run.
// access: read
// params: $rows LIST<MAP>
// returns: urn, run, failedAt
// example: run by the detector of findings
UNWIND $rows AS row
MATCH (j:Job {urn: row.urn})
WITH row, j, COLLECT {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt < row.before
    AND r.status = 'COMPLETE'
  RETURN r.startedAt
  ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT 1
}[0] AS success
WITH row, COLLECT {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = j.namespace AND r.pipelineName = j.name
    AND r.startedAt >= coalesce(success, datetime('0001-01-01T00:00:00Z')) AND r.status = 'FAIL'
  RETURN {run: r.urn, failedAt: coalesce(r.failedAt, r.startedAt)}
  ORDER BY r.namespace, r.pipelineName, r.startedAt, r.urn LIMIT 1
}[0] AS first
WHERE first IS NOT NULL
RETURN row.urn AS urn, first.run AS run, first.failedAt AS failedAt
