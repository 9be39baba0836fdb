// Delete columns that no schema lists, no tag names and no edge names.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
MATCH (c:Column {urn: urn})
WHERE NOT c.current AND c.tags IS NULL AND NOT EXISTS { (c)-[:FEEDS|CITED_BY]-() }
DETACH DELETE c
