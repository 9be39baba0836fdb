// Return every raw source of an answer, each with one shortest path: the runs passed, from the
// answer back. An output with known inputs is followed to those only. A path goes through the
// appends of at most two tables, and at most 30 runs after each. For another answer that this one
// cites, ask again.
// access: read
// params: $answerId STRING, $limit INTEGER = 100
// returns: namespace, name, origin, capturedAt, hops, runs
// example: headwater cypher answer_to_sources --param answerId=worst-carrier-2013
CYPHER statefulShortestPlanningMode=all_if_possible
MATCH (a:Answer {answerId: $answerId})
MATCH way = ANY SHORTEST (a)<-[:CITED_BY]-(cited:Source|Artifact)
  (()<-[:FEEDS]-(:Artifact)){0,2000}
  ((made1:Artifact)<-[:PRODUCED]-(run1:PipelineRun)<-[:FEEDS]-(read1:Source|Artifact)
    WHERE NOT EXISTS { (made1)-[:DERIVED_FROM]->()-[:FEEDS]->(run1) }
      OR EXISTS { (made1)-[:DERIVED_FROM]->(read1) }){0,30}
  (()<-[:FEEDS]-(:Artifact)){0,2000}
  ((made2:Artifact)<-[:PRODUCED]-(run2:PipelineRun)<-[:FEEDS]-(read2:Source|Artifact)
    WHERE NOT EXISTS { (made2)-[:DERIVED_FROM]->()-[:FEEDS]->(run2) }
      OR EXISTS { (made2)-[:DERIVED_FROM]->(read2) }){0,30}(s:Source)
RETURN s.namespace AS namespace, s.name AS name, s.origin AS origin, s.capturedAt AS capturedAt,
  size(run1) + size(run2) AS hops, [r IN run1 + run2 | r.runId] AS runs
ORDER BY hops, namespace, name
LIMIT $limit
