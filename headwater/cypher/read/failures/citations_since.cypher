// Return the answers that cite versions of the given datasets which were current at an instant or
// later. Each comes with the time at which a newer complete version superseded the cited one.
// access: read
// params: $urns LIST<STRING>, $at DATETIME, $limit INTEGER = 20000
// returns: dataset, answer, superseded
// example: headwater cypher read/failures/citations_since --param urns=dataset:file:/raw/planes
//   --param at=2026-01-31T12:00:00Z
UNWIND $urns AS urn
WITH urn, COLLECT {
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = urn AND a.complete = true AND a.createdAt <= $at
  RETURN a.createdAt ORDER BY a.dataset DESC, a.complete DESC, a.createdAt DESC LIMIT 1
}[0] AS floor
WITH urn, coalesce(floor, datetime({year: 1})) AS since, floor IS NULL AS unmade
CALL (urn, since, unmade) {
  MATCH (v:Artifact)-[e:CITED_BY]->(answer:Answer)
  USING INDEX SEEK e:CITED_BY(dataset)
  WHERE e.dataset = urn AND v.complete IS NOT NULL AND v.createdAt >= since
  RETURN answer, v.createdAt AS createdAt
  UNION
  MATCH (:Dataset {urn: urn})<-[:VERSION_OF]-(v:Source)
  WHERE unmade
  WITH v, since
  MATCH (v)-[:CITED_BY]->(answer:Answer)
  RETURN answer, since AS createdAt
}
RETURN urn AS dataset, answer.urn AS answer, COLLECT {
  MATCH (n:Artifact)
  USING INDEX SEEK n:Artifact(dataset, complete, createdAt)
  WHERE n.dataset = urn AND n.complete = true AND n.createdAt > createdAt
  RETURN n.createdAt ORDER BY n.dataset, n.complete, n.createdAt LIMIT 1
}[0] AS superseded
LIMIT $limit
