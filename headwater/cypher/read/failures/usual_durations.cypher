// Return the seconds of the newest complete runs of the given pipelines. Each row of $pipelines has
// a namespace and a name.
// access: read
// params: $pipelines LIST<MAP>, $limit INTEGER = 20
// returns: namespace, name, seconds
// example: run by the API
UNWIND $pipelines AS pipeline
RETURN pipeline.namespace AS namespace, pipeline.name AS name, COLLECT {
  MATCH (r:PipelineRun)
  USING INDEX SEEK r:PipelineRun(namespace, pipelineName, startedAt)
  WHERE r.namespace = pipeline.namespace AND r.pipelineName = pipeline.name
    AND r.startedAt IS NOT NULL AND r.status = 'COMPLETE' AND r.finishedAt >= r.startedAt
  WITH r ORDER BY r.namespace DESC, r.pipelineName DESC, r.startedAt DESC LIMIT $limit
  RETURN duration.inSeconds(r.startedAt, r.finishedAt).milliseconds / 1000.0
} AS seconds
