// Return the answers that cite the given versions, columns or answers.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: source, target
// example: headwater cypher read/traversal/citing_answers --param
//   urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
CALL (urn) {
  MATCH (v:Artifact {urn: urn}) RETURN v
  UNION ALL
  MATCH (v:Source {urn: urn}) RETURN v
  UNION ALL
  MATCH (v:Answer {urn: urn}) RETURN v
  UNION ALL
  MATCH (v:Column {urn: urn}) RETURN v
}
MATCH (v)-[:CITED_BY]->(a:Answer)
RETURN urn AS source, a.urn AS target
LIMIT $limit
