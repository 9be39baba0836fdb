// Return the owners of the given jobs, datasets and versions. A version has the owners of its
// dataset, named in `ownedUrn`.
// access: read
// params: $urns LIST<STRING>
// returns: urn, ownedUrn, owners
// example: headwater cypher read/nodes/owners --param urns=job:spark:flights.clean
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:Job {urn: urn}) RETURN n
  UNION ALL
  MATCH (n:Dataset {urn: urn}) RETURN n
  UNION ALL
  MATCH (:Artifact {urn: urn})-[:VERSION_OF]->(n:Dataset) RETURN n
}
RETURN urn, n.urn AS ownedUrn, coalesce(n.owners, []) AS owners
