// Return the answers that cite the given versions. Each comes with its time, and with the time at
// which a newer complete version superseded the cited one.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: version, answer, generatedAt, superseded
// example: headwater cypher read/failures/citations_of_versions --param
//   urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
CALL (urn) {
  MATCH (v:Artifact {urn: urn}) RETURN v
  UNION ALL
  MATCH (v:Source {urn: urn}) RETURN v
}
MATCH (v)-[:CITED_BY]->(answer:Answer)
RETURN urn AS version, answer.urn AS answer, answer.generatedAt AS generatedAt, COLLECT {
  MATCH (n:Artifact)
  USING INDEX SEEK n:Artifact(dataset, complete, createdAt)
  WHERE n.dataset = v.dataset AND n.complete = true
    AND n.createdAt > coalesce(v.createdAt, datetime({year: 1}))
  RETURN n.createdAt ORDER BY n.dataset, n.complete, n.createdAt LIMIT 1
}[0] AS superseded
LIMIT $limit
