// Return the versions of a dataset, complete or not, that were written at or after an instant,
// newest first.
// access: read
// params: $dataset STRING, $since DATETIME, $limit INTEGER = 1000
// returns: urn, run, createdAt
// example: headwater cypher read/failures/versions_since --param dataset=dataset:file:/raw/planes
//   --param since=2026-01-31T00:00:00Z
MATCH (a:Artifact)
USING INDEX SEEK a:Artifact(dataset, complete, createdAt)
WHERE a.dataset = $dataset AND a.complete IN [true, false] AND a.createdAt >= $since
WITH a ORDER BY a.createdAt DESC, a.urn LIMIT $limit
RETURN a.urn AS urn, [(r:PipelineRun)-[:PRODUCED]->(a) | r.urn][0] AS run, a.createdAt AS createdAt
ORDER BY createdAt DESC, urn
