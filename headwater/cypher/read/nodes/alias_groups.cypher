// Return every name of the datasets that have one of the given names, with the facts reported under
// each name.
// access: read
// params: $urns LIST<STRING>
// returns: canonical, urn, facts
// example: run by the worker
UNWIND $urns AS urn
CALL (urn) {
  MATCH (d:Dataset {urn: urn}) RETURN d
  UNION ALL
  MATCH (:Symlink {urn: urn})-[:SYMLINK_OF]->(d:Dataset) RETURN d
}
WITH DISTINCT d
CALL (d) {
  RETURN d AS n
  UNION ALL
  MATCH (n:Symlink)-[:SYMLINK_OF]->(d) RETURN n
}
RETURN d.urn AS canonical, n.urn AS urn, n.facts AS facts
