// Return the begin and the end of the findings of tier P1 and of the given rules that were open in
// a time window; the end of an open one is null.
// access: read
// params: $rules LIST<STRING>, $since DATETIME, $until DATETIME, $limit INTEGER = 10000
// returns: began, end
// example: headwater slo data-freshness
UNWIND $rules AS rule
MATCH (f:Finding)
WHERE f.rule = rule AND f.lastSeen IS NOT NULL AND f.tier = 'P1' AND f.firstSeen < $until
  AND coalesce(f.resolvedAt >= $since, true)
RETURN f.firstSeen AS began, f.resolvedAt AS end
ORDER BY began, end
LIMIT $limit
