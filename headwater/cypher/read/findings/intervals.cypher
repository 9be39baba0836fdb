// Return a page of all findings in the order of their urns, as far as causes depend on them.
// access: read
// params: $after STRING = "", $limit INTEGER = 10000
// returns: urn, rule, subject, firstSeen, resolvedAt, root
// example: headwater cypher read/findings/intervals
MATCH (f:Finding)
WHERE f.urn > $after
RETURN f.urn AS urn, f.rule AS rule, f.subject AS subject, f.firstSeen AS firstSeen,
  f.resolvedAt AS resolvedAt, f.root AS root
ORDER BY urn
LIMIT $limit
