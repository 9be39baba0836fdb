// Count the traces that visible runs of a time window name, and those of them that reach jobs of at
// least two namespaces. `urns` are runs of the others, the newest first. A run has at most 20.
// access: read
// params: $since DATETIME, $until DATETIME, $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: traces, correlated, urns
// example: headwater figures correlated-traces
MATCH (r:PipelineRun)
WHERE r.startedAt >= $since AND r.startedAt < $until AND r.traceIds IS NOT NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
UNWIND r.traceIds AS trace
WITH trace, r ORDER BY r.startedAt DESC, r.urn
WITH trace, count(DISTINCT r.namespace) > 1 AS correlated, head(collect(r)) AS newest
WITH correlated, newest.urn AS urn, newest.startedAt AS at
ORDER BY at DESC, urn
RETURN count(*) AS traces, count(CASE WHEN correlated THEN 1 END) AS correlated,
  collect(DISTINCT CASE WHEN NOT correlated THEN urn END)[..$limit] AS urns
