// Return the facts from which the given nodes were projected, as JSON.
// access: read
// params: $urns LIST<STRING>
// returns: urn, facts
// example: headwater cypher read/nodes/facts --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:Dataset {urn: urn}) RETURN n
  UNION ALL
  MATCH (n:Job {urn: urn}) RETURN n
  UNION ALL
  MATCH (n:PipelineRun {urn: urn}) RETURN n
  UNION ALL
  MATCH (n:Answer {urn: urn}) RETURN n
}
RETURN urn, n.facts AS facts
