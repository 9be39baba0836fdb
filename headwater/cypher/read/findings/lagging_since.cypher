// Return the newest run before an instant that reported a lag within the limit, and the next run,
// with the lags that they reported of a topic. Each row of $rows has the urn of a job, the urn of a
// topic, the instant `before` and the limit. Without such a run, the first two runs are returned.
// access: read
// params: $rows LIST<MAP>
// returns: urn, dataset, runs
// example: run by the detector of findings
UNWIND $rows AS row
MATCH (j:Job {urn: row.urn})
WITH row, j, COLLECT {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt < row.before
    AND EXISTS {
      (v:Source|Artifact)-[e:FEEDS]->(r)
      WHERE v.dataset = row.dataset AND any(lag IN e.lags WHERE lag <= row.limit)
    }
  RETURN r.startedAt
  ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT 1
}[0] AS since
RETURN row.urn AS urn, row.dataset AS dataset, COLLECT {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = j.namespace AND r.pipelineName = j.name AND r.startedAt < row.before
    AND r.startedAt >= coalesce(since, datetime('0001-01-01T00:00:00Z'))
  WITH r, COLLECT {
    MATCH (v:Source|Artifact)-[e:FEEDS]->(r)
    WHERE v.dataset = row.dataset AND e.lags IS NOT NULL
    RETURN {times: e.lagTimes, lags: e.lags} ORDER BY v.urn LIMIT 1
  }[0] AS found
  WHERE found IS NOT NULL
  RETURN {run: r.urn, times: found.times, lags: found.lags}
  ORDER BY r.namespace, r.pipelineName, r.startedAt, r.urn LIMIT 2
} AS runs
