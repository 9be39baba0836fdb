// Return the newest earlier successful runs of the job of each given run, newest first.
// access: read
// params: $urns LIST<STRING>, $earlier INTEGER = 10
// returns: run, pipeline, earlier
// example: headwater cypher read/failures/earlier_runs --param urns=run:RUN
UNWIND $urns AS urn
MATCH (r:PipelineRun {urn: urn})
WHERE r.startedAt IS NOT NULL
WITH r, COLLECT {
  MATCH (r)-[:RUN_OF]->(j:Job)
  RETURN j ORDER BY (j.name = r.pipelineName AND j.namespace = r.namespace) DESC, j.urn LIMIT 1
}[0] AS job
RETURN r.urn AS run, r.pipelineName AS pipeline, COLLECT {
  UNWIND ['both', 'reads', 'writes'] AS sides
  CALL (r, job, sides) {
    MATCH (p:PipelineRun)
    USING INDEX SEEK p:PipelineRun(namespace, pipelineName, reportedSides, finishedAt)
    WHERE p.namespace = job.namespace AND p.pipelineName = job.name AND p.reportedSides = sides
      AND p.finishedAt <= r.startedAt AND p.urn <> r.urn
    RETURN p ORDER BY p.namespace DESC, p.pipelineName DESC, p.reportedSides DESC,
      p.finishedAt DESC LIMIT $earlier
  }
  RETURN p.urn ORDER BY p.finishedAt DESC, p.urn LIMIT $earlier
} AS earlier
