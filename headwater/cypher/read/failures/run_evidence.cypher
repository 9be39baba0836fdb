// Return the properties of the given runs that may explain a bad output: the final status, the test
// results and the code version. Add the newest earlier run of the same job, among a thousand, that
// succeeded and reported its code version.
// access: read
// params: $urns LIST<STRING>
// returns: urn, at, job, pipeline, status, error, version, testsFailed, testsPassed, failedTests,
//   previous
// example: headwater cypher read/failures/run_evidence --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
WITH r, coalesce(r.startedAt, r.failedAt, r.finishedAt) AS at, COLLECT {
  MATCH (r)-[:RUN_OF]->(j:Job)
  RETURN j ORDER BY (j.name = r.pipelineName AND j.namespace = r.namespace) DESC, j.urn LIMIT 1
}[0] AS job
RETURN r.urn AS urn, at, job.urn AS job, r.pipelineName AS pipeline, r.status AS status,
  r.error AS error, r.version AS version,
  r.testsFailed AS testsFailed, r.testsPassed AS testsPassed, r.failedTests AS failedTests,
    [COLLECT {
    UNWIND ['both', 'reads'] AS sides
    CALL (r, at, job, sides) {
      MATCH (p:PipelineRun)
      USING INDEX SEEK p:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
      WHERE p.namespace = job.namespace AND p.pipelineName = job.name AND p.reportedSides = sides
        AND p.finishedAt <= at AND p.urn <> r.urn
      RETURN p ORDER BY p.namespace DESC, p.pipelineName DESC, p.reportedSides DESC,
        p.finishedAt DESC LIMIT 1000
    }
    WITH p ORDER BY p.finishedAt DESC LIMIT 1000
    WHERE p.version IS NOT NULL
    RETURN {run: p.urn, version: p.version, at: p.finishedAt} ORDER BY p.finishedAt DESC LIMIT 1
  }[0], COLLECT {
    UNWIND ['both', 'writes'] AS sides
    CALL (r, at, job, sides) {
      MATCH (p:PipelineRun)
      USING INDEX SEEK p:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
      WHERE p.namespace = job.namespace AND p.pipelineName = job.name AND p.reportedSides = sides
        AND p.finishedAt <= at AND p.urn <> r.urn
      RETURN p ORDER BY p.namespace DESC, p.pipelineName DESC, p.reportedSides DESC,
        p.finishedAt DESC LIMIT 1000
    }
    WITH p ORDER BY p.finishedAt DESC LIMIT 1000
    WHERE p.version IS NOT NULL
    RETURN {run: p.urn, version: p.version, at: p.finishedAt} ORDER BY p.finishedAt DESC LIMIT 1
  }[0]] AS previous
