// Return runs that started before a time and never ended. They are still running or abandoned:
// their parent run ended without them, or they sent no events for long.
// access: read
// params: $before DATETIME, $limit INTEGER = 100
// returns: startedAt, pipeline, runId, engine, status
// example: headwater cypher unfinished_runs --param before=2027-01-01
MATCH (r:PipelineRun)
WHERE r.startedAt < $before AND r.status IN ['RUNNING', 'ABANDONED']
RETURN r.startedAt AS startedAt, r.pipelineName AS pipeline, r.runId AS runId, r.engine AS engine,
  r.status AS status
ORDER BY startedAt, runId
LIMIT $limit
