// Runs that started before a time and never ended: still running, or abandoned (what they were part of ended without
// them, or nothing was heard of them for long).
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
