// Count the findings of tier P1 that began in a time window and whose root cause ended or is open
// for longer than $within at $until, and those whose root cause ended within $within; and return
// the mean time in seconds from their begin to that end. This is a scan over all findings.
// access: read
// params: $since DATETIME, $until DATETIME, $within INTEGER = 3600
// returns: total, good, mean
// example: headwater slo M4
MATCH (f:Finding)
WHERE f.tier = 'P1' AND f.firstSeen >= $since AND f.firstSeen < $until
OPTIONAL MATCH (root:Finding {urn: f.root})
WITH f.firstSeen AS began, CASE WHEN root IS NULL THEN f.resolvedAt ELSE root.resolvedAt END AS end
WITH
  CASE WHEN end < began THEN 0.0 ELSE (end.epochMillis - began.epochMillis) / 1000.0 END AS taken,
  ($until.epochMillis - began.epochMillis) / 1000.0 AS open
WHERE taken IS NOT NULL OR open >= $within
RETURN count(*) AS total, count(CASE WHEN taken <= $within THEN 1 END) AS good, avg(taken) AS mean
