// Return the newest runs that name a trace, with their trace ids, in the order of their starts.
// access: read
// params: $limit INTEGER = 500
// returns: urn, traceIds
// example: headwater cypher newest_traced_runs
MATCH (r:PipelineRun)
USING INDEX r:PipelineRun(startedAt, traceCount)
WHERE r.startedAt > datetime({epochSeconds: 0}) AND r.traceCount IS NOT NULL
RETURN r.urn AS urn, r.traceIds AS traceIds
ORDER BY r.startedAt DESC
LIMIT $limit
