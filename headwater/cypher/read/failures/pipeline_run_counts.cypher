// Count the runs of the given pipelines that started in a time window, or started before it and
// failed in it. Each row of $pipelines has a namespace and a name.
// access: read
// params: $pipelines LIST<MAP>, $since DATETIME, $until DATETIME
// returns: namespace, name, runs
// example: run by the API
UNWIND $pipelines AS pipeline
RETURN pipeline.namespace AS namespace, pipeline.name AS name, COUNT {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = pipeline.namespace AND r.pipelineName = pipeline.name
    AND r.startedAt >= $since AND r.startedAt < $until
} + COUNT {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(status, failedAt)
  WHERE r.status = 'FAIL' AND r.failedAt >= $since AND r.failedAt < $until
    AND r.namespace = pipeline.namespace AND r.pipelineName = pipeline.name
    AND r.startedAt < $since
} AS runs
