// Return for each rule how many findings began since $since, how many of them are still open, and
// how long the others lasted, in hours: the median and the longest. This is
// a scan over all findings.
// access: read
// params: $since DATETIME = "1970-01-01T00:00:00Z"
// returns: rule, began, open, medianHours, longestHours, lastSeen
// example: headwater cypher finding_history --param since=2026-01-01
MATCH (f:Finding)
WHERE f.firstSeen >= $since
WITH f, CASE WHEN f.resolvedAt IS NULL THEN null
  ELSE duration.inSeconds(f.firstSeen, f.resolvedAt).seconds / 3600.0 END AS hours
RETURN f.rule AS rule, count(*) AS began, count(CASE WHEN f.isOpen THEN 1 END) AS open,
  round(percentileCont(hours, 0.5) * 10) / 10 AS medianHours,
  round(max(hours) * 10) / 10 AS longestHours, max(f.lastSeen) AS lastSeen
ORDER BY began DESC, rule
