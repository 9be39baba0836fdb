// Return the newest visible runs that name a trace, with their trace ids, in the order of their
// starts.
// access: read
// params: $visible LIST<STRING> = null, $limit INTEGER = 500
// returns: traceIds
// example: headwater cypher newest_traced_runs
MATCH (r:PipelineRun)
USING INDEX r:PipelineRun(startedAt, traceCount)
WHERE r.startedAt > datetime({epochSeconds: 0}) AND r.traceCount IS NOT NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
RETURN r.traceIds AS traceIds
ORDER BY r.startedAt DESC
LIMIT $limit
