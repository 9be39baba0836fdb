// Return failed runs, newest failure first, and the outputs that each wrote before it failed.
// access: read
// params: $since DATETIME = "1970-01-01T00:00:00Z", $limit INTEGER = 100
// returns: failedAt, pipeline, runId, error, wrote
// example: headwater cypher failed_runs --param since=2026-01-01
MATCH (r:PipelineRun)
WHERE r.status = 'FAIL' AND r.failedAt >= $since
WITH r ORDER BY r.failedAt DESC, r.urn LIMIT $limit
RETURN r.failedAt AS failedAt, r.pipelineName AS pipeline, r.runId AS runId, r.error AS error,
  COLLECT { MATCH (r)-[:PRODUCED]->(a:Artifact) RETURN a.namespace + ' ' + a.name ORDER BY a.urn }
    AS wrote
ORDER BY failedAt DESC, runId
