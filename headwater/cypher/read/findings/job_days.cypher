// Return the beginnings of the days in UTC on which each given job started a run, among the days up
// to an instant. Each row of $rows has the urn of a job and the instant `until`.
// access: read
// params: $rows LIST<MAP>, $days INTEGER = 28
// returns: urn, days
// example: run by the detector of findings
UNWIND $rows AS row
MATCH (j:Job {urn: row.urn})
RETURN row.urn AS urn, COLLECT {
  UNWIND range(0, $days) AS back
  WITH datetime.truncate('day', datetime({datetime: row.until, timezone: 'Z'}))
    - duration({days: back}) AS day
  WHERE EXISTS {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
    WHERE r.namespace = j.namespace AND r.pipelineName = j.name
      AND r.startedAt >= day AND r.startedAt < day + duration({days: 1})
  }
  RETURN day
} AS days
