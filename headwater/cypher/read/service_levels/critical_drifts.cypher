// Count by day, in UTC, the findings of drifted schemas that began in a time window and affect a
// critical or certified node.
// access: read
// params: $since DATETIME, $until DATETIME, $limit INTEGER = 1000
// returns: day, count
// example: headwater slo M7
MATCH (f:Finding)
WHERE f.rule = 'schema-drift' AND f.lastSeen >= $since
  AND f.firstSeen >= $since AND f.firstSeen < $until
  AND (f.tier = 'P1' OR f.affectedCritical > 0)
RETURN toString(date(f.firstSeen)) AS day, count(*) AS count
ORDER BY day
LIMIT $limit
