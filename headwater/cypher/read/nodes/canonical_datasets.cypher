// The datasets that go by another name than these; the facts tell the name where the urn is a hash.
// access: read
// params: $urns LIST<STRING>
// returns: urn, canonical, facts
// example: run by the worker
UNWIND $urns AS urn
MATCH (:Symlink {urn: urn})-[:SYMLINK_OF]->(d:Dataset)
RETURN urn, d.urn AS canonical, CASE WHEN d.urn CONTAINS ':#' THEN d.facts ELSE null END AS facts
