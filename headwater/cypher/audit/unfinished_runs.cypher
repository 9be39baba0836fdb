// Runs that started before a time and have not ended: still running, or their end was never heard.
// access: read
// params: $before DATETIME, $limit INTEGER = 100
// returns: startedAt, pipeline, runId, engine
// example: headwater cypher unfinished_runs --param before=2026-01-31
MATCH (r:PipelineRun)
WHERE r.startedAt < $before AND r.status = 'RUNNING'
RETURN r.startedAt AS startedAt, r.pipelineName AS pipeline, r.runId AS runId, r.engine AS engine
ORDER BY startedAt, runId
LIMIT $limit
