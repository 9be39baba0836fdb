// Count the visible runs that failed in a time window, and those whose last write to the graph, by
// the clock of Neo4j, came within $within of the failure, by the producers' clocks; and return the
// median of that delay.
// access: read
// params: $since DATETIME, $until DATETIME, $within INTEGER = 900, $visible LIST<STRING> = null
// returns: total, good, median
// example: headwater slo M3
MATCH (r:PipelineRun)
WHERE r.status = 'FAIL' AND r.failedAt >= $since AND r.failedAt < $until
  AND r.changedAt IS NOT NULL
  AND ($visible IS NULL OR any(p IN $visible WHERE r.namespace =~ p)
    AND NOT EXISTS { (r)-[:RUN_OF]->(other:Job)
      WHERE none(p IN $visible WHERE other.namespace =~ p) })
WITH (r.changedAt.epochMillis - r.failedAt.epochMillis) / 1000.0 AS delay
WITH CASE WHEN delay < 0 THEN 0.0 ELSE delay END AS delay
RETURN count(*) AS total, count(CASE WHEN delay <= $within THEN 1 END) AS good,
  percentileCont(delay, 0.5) AS median
