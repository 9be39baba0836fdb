// Return sources by age, oldest first: the time of the capture, or else of the last event. This is
// a scan over all sources, because the sources without a capture time matter most.
// access: read
// params: $before DATETIME = "9999-01-01T00:00:00Z", $limit INTEGER = 100
// returns: lastKnown, captured, namespace, name, origin, readers
// example: headwater cypher source_freshness --param before=2027-01-01
MATCH (s:Source)-[:VERSION_OF]->(d:Dataset)
WITH s, coalesce(s.capturedAt, d.lastSeen, d.firstSeen) AS lastKnown
WHERE lastKnown IS NULL OR lastKnown < $before
RETURN lastKnown, s.capturedAt IS NOT NULL AS captured, s.namespace AS namespace, s.name AS name,
  s.origin AS origin,
  COUNT { (s)-[:FEEDS]->() } AS readers
ORDER BY lastKnown, namespace, name
LIMIT $limit
