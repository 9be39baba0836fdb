// Count the versions of each of the given datasets that are no sources, by the degree of the
// dataset.
// access: read
// params: $urns LIST<STRING>
// returns: urn, count
// example: headwater cypher read/nodes/dataset_versions_count --param
//   urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COUNT { ()-[:VERSION_OF]->(d) } - COUNT {
  MATCH (s:Source)
  USING INDEX SEEK s:Source(dataset)
  WHERE s.dataset = d.urn AND EXISTS { (s)-[:VERSION_OF]->(d) }
} AS count
