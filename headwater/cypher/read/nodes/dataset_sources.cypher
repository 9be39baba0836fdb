// Return the captured sources of the given datasets.
// access: read
// params: $urns LIST<STRING>
// returns: urn, sources
// example: headwater cypher read/nodes/dataset_sources --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  MATCH (s:Source)
  USING INDEX SEEK s:Source(dataset)
  WHERE s.dataset = urn AND EXISTS { (s)-[:VERSION_OF]->(d) }
  RETURN s.urn ORDER BY s.urn
} AS sources
