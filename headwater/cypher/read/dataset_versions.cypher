// The versions of some datasets, newest first.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20
// returns: urn, versions
// example: headwater cypher read/dataset_versions --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  MATCH (a:Artifact)-[:VERSION_OF]->(d)
  RETURN a.urn ORDER BY a.createdAt DESC, a.urn LIMIT $limit
} AS versions
