// Answers whose provenance has a hole: they cite nothing at all, or a version whose run failed, is unfinished or
// was never heard of, or one that came out of nothing.
// access: read
// params: $since DATETIME = "1970-01-01T00:00:00Z", $limit INTEGER = 100
// returns: generatedAt, answerId, cited, why
// example: headwater cypher incomplete_answers --param since=2026-01-01
MATCH (a:Answer)
WHERE a.generatedAt >= $since
CALL (a) {
  WITH a WHERE NOT EXISTS { ()-[:CITED_BY]->(a) }
  RETURN null AS cited, 'it cites nothing' AS why
  UNION
  MATCH (v:Artifact)-[:CITED_BY]->(a)
  OPTIONAL MATCH (r:PipelineRun)-[:PRODUCED]->(v)
  WITH v, r, CASE
    WHEN r IS NULL THEN 'the run that made it was never heard of'
    WHEN r.status <> 'COMPLETE' THEN 'the run that made it is ' + r.status
    WHEN NOT EXISTS { (:Source|Artifact)-[:FEEDS]->(r) } THEN 'the run that made it read nothing'
  END AS why
  WHERE why IS NOT NULL
  RETURN v.namespace + ' ' + v.name AS cited, why
}
RETURN a.generatedAt AS generatedAt, a.answerId AS answerId, cited, why
ORDER BY generatedAt DESC, answerId, cited
LIMIT $limit
