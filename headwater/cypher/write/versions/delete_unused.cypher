// Delete sources and versions that exist only because an event named them, if no edge names them.
// access: write
// params: $urns LIST<STRING>
// returns: nothing
// example: run by the worker
UNWIND $urns AS urn
CALL (urn) {
  MATCH (v:Source {urn: urn}) WHERE NOT v.registered RETURN v
  UNION ALL
  MATCH (v:Artifact {urn: urn}) WHERE v.status IS NULL RETURN v
}
WITH v WHERE NOT EXISTS { (v)-[:FEEDS|CITED_BY]->() }
DETACH DELETE v
