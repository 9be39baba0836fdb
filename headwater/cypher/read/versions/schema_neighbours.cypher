// Return the versions whose drift may have changed because a version appeared or changed its time.
// These are that version and the next complete one after each of the two instants. Each comes with
// the schema of the newest complete version before it.
// access: read
// params: $rows LIST<MAP>
// returns: artifact, schema, before, drift
// example: run by the worker
UNWIND $rows AS row
CALL (row) {
  MATCH (a:Artifact {urn: row.artifact})
  RETURN a
  UNION
  UNWIND row.instants AS instant
  CALL (row, instant) {
    MATCH (n:Artifact)
    USING INDEX SEEK n:Artifact(dataset, complete, createdAt)
    WHERE n.dataset = row.dataset AND n.complete = true AND n.createdAt > instant
      AND n.schemaHash IS NOT NULL
    RETURN n.createdAt AS made ORDER BY n.dataset, n.complete, n.createdAt LIMIT 1
  }
  MATCH (a:Artifact)
  USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
  WHERE a.dataset = row.dataset AND a.complete = true AND a.createdAt = made
  RETURN a
}
WITH DISTINCT a
WITH a, CASE WHEN a.complete THEN COLLECT {
  MATCH (p:Artifact)
  USING INDEX SEEK p:Artifact(dataset, complete, createdAt)
  WHERE p.dataset = a.dataset AND p.complete = true AND p.createdAt < a.createdAt
    AND p.schemaHash IS NOT NULL
  RETURN p.createdAt ORDER BY p.dataset DESC, p.complete DESC, p.createdAt DESC LIMIT 1
}[0] ELSE null END AS made
RETURN a.urn AS artifact, a.schemaHash AS schema, a.drift AS drift, COLLECT {
  MATCH (p:Artifact)
  USING INDEX SEEK p:Artifact(dataset, complete, createdAt)
  WHERE p.dataset = a.dataset AND p.complete = true AND p.createdAt = made
    AND p.schemaHash IS NOT NULL
  RETURN p.schemaHash ORDER BY p.urn DESC LIMIT 1
}[0] AS before
