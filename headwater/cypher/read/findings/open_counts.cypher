// Count the open findings by rule and tier.
// access: read
// params: none
// returns: rule, tier, count
// example: headwater cypher read/findings/open_counts
MATCH (f:Finding)
WHERE f.isOpen = true AND f.lastSeen IS NOT NULL
RETURN f.rule AS rule, f.tier AS tier, count(*) AS count
ORDER BY rule, tier
