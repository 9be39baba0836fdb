// Every raw source of an answer, each with one shortest way to it: the runs passed, from the answer back. An output
// that is known to come from certain inputs is followed to those only. At most 30 runs deep. For another answer that it
// cites, ask again.
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
