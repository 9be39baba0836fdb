// Return answers whose provenance has a gap. Such an answer cites nothing, or its upstream history
// of at most 30 runs has a broken version. A version is broken if its run failed, is unfinished or
// sent no events, or if it has neither run nor source. Only the newest answers are examined.
// access: read
// params: $since DATETIME = "1970-01-01T00:00:00Z", $newest INTEGER = 1000, $limit INTEGER = 100
// returns: generatedAt, answerId, hops, version, runId, why
// example: headwater cypher incomplete_answers --param since=2026-01-01
CYPHER statefulShortestPlanningMode=all_if_possible
MATCH (a:Answer)
WHERE a.generatedAt >= $since
WITH a ORDER BY a.generatedAt DESC, a.urn LIMIT $newest
CALL (a) {
  WITH a WHERE NOT EXISTS { ()-[:CITED_BY]->(a) }
  RETURN null AS hops, null AS v, null AS r, 'it cites nothing' AS why
  UNION ALL
  MATCH path = ANY SHORTEST (a)<-[:CITED_BY]-(cited:Source|Artifact)
    (()<-[:FEEDS]-(:Artifact)){0,2000}
    ((made1:Artifact)<-[:PRODUCED]-(run1:PipelineRun)<-[:FEEDS]-(read1:Source|Artifact)
      WHERE NOT EXISTS { (made1)-[:DERIVED_FROM]->()-[:FEEDS]->(run1) }
        OR EXISTS { (made1)-[:DERIVED_FROM]->(read1) }){0,30}
    (()<-[:FEEDS]-(:Artifact)){0,2000}
    ((made2:Artifact)<-[:PRODUCED]-(run2:PipelineRun)<-[:FEEDS]-(read2:Source|Artifact)
      WHERE NOT EXISTS { (made2)-[:DERIVED_FROM]->()-[:FEEDS]->(run2) }
        OR EXISTS { (made2)-[:DERIVED_FROM]->(read2) }){0,30}(v:Artifact)
  OPTIONAL MATCH (r:PipelineRun)-[:PRODUCED]->(v)
  WITH size(run1) + size(run2) AS hops, v, r, CASE
    WHEN r IS NULL OR r.status IS NULL THEN 'the run that made it was never heard of'
    WHEN v.complete THEN null
    ELSE 'the run that made it is ' + r.status
  END AS why
  WITH hops, v, r, CASE
    WHEN why IS NULL AND NOT EXISTS { (:Source|Artifact|PipelineRun)-[:FEEDS]->(r) }
      THEN 'the run that made it read nothing'
    ELSE why
  END AS why
  WHERE why IS NOT NULL
  RETURN hops, v, r, why
}
RETURN a.generatedAt AS generatedAt, a.answerId AS answerId, hops,
  v.namespace + ' ' + v.name AS version,
  v.runId AS runId, why
ORDER BY generatedAt DESC, answerId, hops, version, runId
LIMIT $limit
