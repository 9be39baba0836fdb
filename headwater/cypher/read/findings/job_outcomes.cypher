// Return the newest complete runs and the newest failed or aborted runs of the given jobs, among
// their newest runs, earliest first.
// access: read
// params: $jobs LIST<MAP>, $runs INTEGER = 100, $limit INTEGER = 50
// returns: job, complete, failed
// example: run by `headwater detect`
UNWIND $jobs AS job
CALL (job) {
  CALL (job) {
    MATCH (r:PipelineRun)
    USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
    WHERE r.namespace = job.namespace AND r.pipelineName = job.name AND r.startedAt IS NOT NULL
    RETURN r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT $runs
    UNION
    MATCH (r:PipelineRun)-[e:RUN_OF]->(:Job)
    USING INDEX SEEK e:RUN_OF(indexedUnder)
    WHERE e.indexedUnder = job.urn AND r.startedAt IS NOT NULL
    RETURN r ORDER BY r.startedAt DESC LIMIT $runs
  }
  WITH r ORDER BY r.startedAt, r.urn
  RETURN [x IN collect(CASE WHEN r.status = 'COMPLETE'
      THEN [r.urn, r.startedAt, coalesce(r.finishedAt, r.startedAt)] END)][-$limit..] AS complete,
    [x IN collect(CASE WHEN r.status IN ['FAIL', 'ABORT'] THEN [r.urn,
      coalesce(r.failedAt, r.finishedAt, r.startedAt), r.status, r.error] END)][-$limit..] AS failed
}
RETURN job.urn AS job, complete, failed
