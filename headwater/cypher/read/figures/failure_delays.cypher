// Return the median delay in seconds from the failures of a time window, by the producers' clocks,
// to their last write to the graph, by the clock of Neo4j; and the runs with the longest delays.
// access: read
// params: $since DATETIME, $until DATETIME, $visible LIST<STRING> = null, $limit INTEGER = 200
// returns: failures, median, urns
// example: headwater figures time-to-impact
MATCH (r:PipelineRun)
WHERE r.status = 'FAIL' AND r.failedAt >= $since AND r.failedAt < $until
  AND r.changedAt IS NOT NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
WITH r.urn AS urn, (r.changedAt.epochMillis - r.failedAt.epochMillis) / 1000.0 AS delay
WITH urn, CASE WHEN delay < 0 THEN 0.0 ELSE delay END AS seconds
ORDER BY seconds DESC, urn
RETURN count(*) AS failures, percentileCont(seconds, 0.5) AS median,
  collect(urn)[..$limit] AS urns
