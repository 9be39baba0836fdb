// Return the runs written since an instant by the clock of Neo4j, in the order of their writes.
// access: read
// params: $since DATETIME, $limit INTEGER = 1000
// returns: urn, at
// example: run for subscriptions
MATCH (r:PipelineRun)
WHERE r.changedAt >= $since
RETURN r.urn AS urn, r.changedAt AS at
ORDER BY at
LIMIT $limit
