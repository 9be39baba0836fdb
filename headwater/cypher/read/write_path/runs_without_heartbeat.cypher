// Return a running run without events since an instant, if there is any.
// access: read
// params: $before DATETIME
// returns: urn
// example: run by the worker
MATCH (r:PipelineRun)
USING INDEX SEEK r:PipelineRun(status, lastHeartbeatAt)
WHERE r.status = 'RUNNING' AND r.lastHeartbeatAt < $before
RETURN r.urn AS urn LIMIT 1
