// Return the aliases of the given datasets. $visible: the namespaces of the aliases, as regular
// expressions; null: any.
// access: read
// params: $urns LIST<STRING>, $visible LIST<STRING> = null, $limit INTEGER
// returns: urn, names
// example: headwater cypher read/nodes/dataset_aliases --param urns=dataset:file:/raw/planes
//   --param limit=10
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  MATCH (s:Symlink)-[:SYMLINK_OF]->(d)
  WHERE $visible IS NULL OR any(p IN $visible WHERE s.namespace =~ p)
  RETURN {namespace: s.namespace, name: s.name} ORDER BY s.urn LIMIT $limit
} AS names
