// Compare the given complete versions with earlier ones. Return the schema drift with the fields
// before and after, and the row count with those of the newest earlier complete versions that have
// one.
// access: read
// params: $urns LIST<STRING>, $earlier INTEGER = 10
// returns: urn, name, at, drift, fields, fieldsBefore, rowCount, earlier
// example: headwater cypher read/failures/version_evidence --param
//   urns=artifact:file:/marts/delay:RUN
UNWIND $urns AS urn
MATCH (a:Artifact {urn: urn})
WHERE a.complete = true
RETURN urn, a.name AS name, a.createdAt AS at, coalesce(a.drift, []) AS drift,
  a.rowCount AS rowCount, COLLECT {
  MATCH (a)-[:HAS_SCHEMA]->(s:SchemaVersion)
  RETURN s.fields ORDER BY s.urn LIMIT 1
}[0] AS fields, CASE WHEN size(a.drift) > 0 THEN COLLECT {
  MATCH (p:Artifact)
  USING INDEX SEEK p:Artifact(dataset, complete, createdAt)
  WHERE p.dataset = a.dataset AND p.complete = true AND p.createdAt < a.createdAt
    AND p.schemaHash IS NOT NULL
  WITH p ORDER BY p.dataset DESC, p.complete DESC, p.createdAt DESC LIMIT 1
  MATCH (p)-[:HAS_SCHEMA]->(s:SchemaVersion)
  RETURN s.fields LIMIT 1
}[0] END AS fieldsBefore, CASE WHEN a.rowCount IS NOT NULL THEN COLLECT {
  MATCH (p:Artifact)
  USING INDEX SEEK p:Artifact(dataset, complete, createdAt)
  WHERE p.dataset = a.dataset AND p.complete = true AND p.createdAt < a.createdAt
    AND p.rowCount IS NOT NULL
  RETURN {urn: p.urn, rowCount: p.rowCount}
    ORDER BY p.dataset DESC, p.complete DESC, p.createdAt DESC LIMIT $earlier
} ELSE [] END AS earlier
