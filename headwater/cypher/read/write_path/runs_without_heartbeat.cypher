// Whether there are running runs that nothing was heard of since an instant.
// access: read
// params: $before DATETIME
// returns: urn
// example: run by the worker
MATCH (r:PipelineRun)
USING INDEX SEEK r:PipelineRun(status, heardAt)
WHERE r.status = 'RUNNING' AND r.heardAt < $before
RETURN r.urn AS urn LIMIT 1
