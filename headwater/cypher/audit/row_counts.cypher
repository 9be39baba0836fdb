// Return the row count of each version in the chain of an answer, nearest to the answer first: it
// shows where rows got lost. Paths have at most 30 runs.
// access: read
// params: $answerId STRING, $limit INTEGER = 100
// returns: hops, kind, namespace, name, runId, rowCount, complete
// example: headwater cypher row_counts --param answerId=worst-carrier-2013
CYPHER statefulShortestPlanningMode=all_if_possible
MATCH (a:Answer {answerId: $answerId})
MATCH path = ANY SHORTEST (a)<-[:CITED_BY]-(cited:Source|Artifact)
  ((made:Artifact)<-[:PRODUCED]-(run:PipelineRun)<-[:FEEDS]-(read:Source|Artifact)
    WHERE NOT EXISTS { (made)-[:DERIVED_FROM]->()-[:FEEDS]->(run) }
      OR EXISTS { (made)-[:DERIVED_FROM]->(read) }){0,30}(v)
RETURN size(run) AS hops, head(labels(v)) AS kind, v.namespace AS namespace, v.name AS name,
  v.runId AS runId,
  v.rowCount AS rowCount, v.complete AS complete
ORDER BY hops, namespace, name, runId
LIMIT $limit
