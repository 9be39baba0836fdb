// Return the pipelines by the number of failures since a time, with the last failure and its error.
// access: read
// params: $since DATETIME = "1970-01-01T00:00:00Z", $limit INTEGER = 100
// returns: pipeline, failures, lastFailedAt, lastError
// example: headwater cypher failing_pipelines --param since=2026-01-01
MATCH (r:PipelineRun)
WHERE r.status = 'FAIL' AND r.failedAt >= $since
WITH r ORDER BY r.failedAt DESC
RETURN r.pipelineName AS pipeline, count(*) AS failures, max(r.failedAt) AS lastFailedAt,
  head(collect(r.error)) AS lastError
ORDER BY failures DESC, pipeline
LIMIT $limit
