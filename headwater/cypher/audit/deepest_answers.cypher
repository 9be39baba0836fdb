// Return the answers with the longest path to a raw source, counted in runs: the answers most
// exposed to failures of others. Only the newest answers are examined.
// access: read
// params: $since DATETIME = "1970-01-01T00:00:00Z", $newest INTEGER = 200, $limit INTEGER = 20
// returns: hops, answerId, generatedAt, source
// example: headwater cypher deepest_answers --param since=2026-01-01
CYPHER statefulShortestPlanningMode=all_if_possible
MATCH (a:Answer)
WHERE a.generatedAt >= $since
WITH a ORDER BY a.generatedAt DESC LIMIT $newest
MATCH way = ANY SHORTEST (a)<-[:CITED_BY]-(cited:Source|Artifact)
  (()<-[:FEEDS]-(:Artifact)){0,2000}
  ((made1:Artifact)<-[:PRODUCED]-(run1:PipelineRun)<-[:FEEDS]-(read1:Source|Artifact)
    WHERE NOT EXISTS { (made1)-[:DERIVED_FROM]->()-[:FEEDS]->(run1) }
      OR EXISTS { (made1)-[:DERIVED_FROM]->(read1) }){0,30}
  (()<-[:FEEDS]-(:Artifact)){0,2000}
  ((made2:Artifact)<-[:PRODUCED]-(run2:PipelineRun)<-[:FEEDS]-(read2:Source|Artifact)
    WHERE NOT EXISTS { (made2)-[:DERIVED_FROM]->()-[:FEEDS]->(run2) }
      OR EXISTS { (made2)-[:DERIVED_FROM]->(read2) }){0,30}(s:Source)
WITH a, s, size(run1) + size(run2) AS hops ORDER BY hops DESC, s.urn
WITH a, max(hops) AS hops, head(collect(s)) AS farthest
RETURN hops, a.answerId AS answerId, a.generatedAt AS generatedAt,
  farthest.namespace + ' ' + farthest.name AS source
ORDER BY hops DESC, answerId
LIMIT $limit
