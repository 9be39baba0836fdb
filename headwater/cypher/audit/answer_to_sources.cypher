// Return every raw source of an answer, each with one shortest path: the runs passed, from the
// answer back. An output with known inputs is followed to those only. Paths have at most 30 runs.
// For another answer that this one cites, ask again.
// access: read
// params: $answerId STRING, $limit INTEGER = 100
// returns: namespace, name, origin, capturedAt, hops, runs
// example: headwater cypher answer_to_sources --param answerId=worst-carrier-2013
CYPHER statefulShortestPlanningMode=all_if_possible
MATCH (a:Answer {answerId: $answerId})
MATCH way = ANY SHORTEST (a)<-[:CITED_BY]-(cited:Source|Artifact)
  ((made:Artifact)<-[:PRODUCED]-(run:PipelineRun)<-[:FEEDS]-(read:Source|Artifact)
    WHERE NOT EXISTS { (made)-[:DERIVED_FROM]->()-[:FEEDS]->(run) }
      OR EXISTS { (made)-[:DERIVED_FROM]->(read) }){0,30}(s:Source)
RETURN s.namespace AS namespace, s.name AS name, s.origin AS origin, s.capturedAt AS capturedAt,
  size(run) AS hops, [r IN run | r.runId] AS runs
ORDER BY hops, namespace, name
LIMIT $limit
