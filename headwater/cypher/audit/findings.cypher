// Return the open findings, the most urgent first and then the oldest, with their owners, their age
// in hours, who is affected, and the finding that caused each. $tier: only this one.
// This is a scan over all findings.
// access: read
// params: $tier STRING = "", $limit INTEGER = 100
// returns: tier, rule, subject, hours, owners, answers, critical, cause
// example: headwater cypher findings --param tier=P1
MATCH (f:Finding)
WHERE f.isOpen = true AND ($tier = '' OR f.tier = $tier)
RETURN f.tier AS tier, f.rule AS rule, f.subject AS subject,
  round(duration.inSeconds(f.firstSeen, datetime()).seconds / 360.0) / 10 AS hours,
  f.owners AS owners, f.affectedAnswers AS answers, f.affectedCritical AS critical,
  CASE WHEN f.root = f.urn THEN null ELSE f.root END AS cause
ORDER BY tier, f.firstSeen, subject, rule
LIMIT $limit
