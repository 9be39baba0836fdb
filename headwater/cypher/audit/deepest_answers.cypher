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
  ((made:Artifact)<-[:PRODUCED]-(run:PipelineRun)<-[:FEEDS]-(read:Source|Artifact)
    WHERE NOT EXISTS { (made)-[:DERIVED_FROM]->()-[:FEEDS]->(run) }
      OR EXISTS { (made)-[:DERIVED_FROM]->(read) }){0,30}(s:Source)
WITH a, s, size(run) AS hops ORDER BY hops DESC, s.urn
WITH a, max(hops) AS hops, head(collect(s)) AS farthest
RETURN hops, a.answerId AS answerId, a.generatedAt AS generatedAt,
  farthest.namespace + ' ' + farthest.name AS source
ORDER BY hops DESC, answerId
LIMIT $limit
