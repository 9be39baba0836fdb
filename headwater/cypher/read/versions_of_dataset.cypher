// A page of the versions of a dataset, newest first, and how many there are.
// access: read
// params: $urn STRING, $skip INTEGER = 0, $limit INTEGER = 100
// returns: urns, total
// example: headwater cypher read/versions_of_dataset --param urn=dataset:file:/raw/planes
MATCH (d:Dataset {urn: $urn})
RETURN COLLECT {
  MATCH (a:Artifact)-[:VERSION_OF]->(d)
  RETURN a.urn ORDER BY a.createdAt DESC, a.urn SKIP $skip LIMIT $limit
} AS urns, COUNT { (:Artifact)-[:VERSION_OF]->(d) } AS total
