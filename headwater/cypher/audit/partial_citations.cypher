// Return answers that cite the output of a failed or unfinished run: their numbers may rest on a
// part of the data.
// access: read
// params: $since DATETIME = "1970-01-01T00:00:00Z", $limit INTEGER = 100
// returns: generatedAt, answerId, namespace, name, runId, status
// example: headwater cypher partial_citations --param since=2026-01-01
MATCH (a:Answer)
WHERE a.generatedAt >= $since
MATCH (v:Artifact)-[:CITED_BY]->(a)
WHERE coalesce(v.complete, false) = false
RETURN a.generatedAt AS generatedAt, a.answerId AS answerId, v.namespace AS namespace,
  v.name AS name,
  v.runId AS runId, coalesce(v.status, 'UNKNOWN') AS status
ORDER BY generatedAt DESC, answerId, namespace, name
LIMIT $limit
