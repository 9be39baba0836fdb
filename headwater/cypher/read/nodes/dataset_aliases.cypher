// Return the aliases of the given datasets.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER
// returns: urn, names
// example: headwater cypher read/nodes/dataset_aliases --param urns=dataset:file:/raw/planes
//   --param limit=10
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  MATCH (s:Symlink)-[:SYMLINK_OF]->(d)
  RETURN {namespace: s.namespace, name: s.name} ORDER BY s.urn LIMIT $limit
} AS names
