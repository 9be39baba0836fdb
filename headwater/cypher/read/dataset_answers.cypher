// The answers that cite any version of some datasets, newest first.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20
// returns: urn, answers
// example: headwater cypher read/dataset_answers --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  MATCH (d)<-[:VERSION_OF]-(v:Source|Artifact)
  WITH v
  MATCH (v)-[:CITED_BY]->(a:Answer)
  WITH DISTINCT a
  RETURN a.urn ORDER BY a.generatedAt DESC, a.urn LIMIT $limit
} AS answers
