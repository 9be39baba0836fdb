// Return the row count of each version in the chain of an answer, nearest to the answer first: it
// shows where rows got lost. Paths have at most 30 runs.
// access: read
// params: $answerId STRING, $limit INTEGER = 100
// returns: hops, kind, namespace, name, runId, rowCount, complete
// example: headwater cypher row_counts --param answerId=worst-carrier-2013
CYPHER statefulShortestPlanningMode=all_if_possible
MATCH (a:Answer {answerId: $answerId})
MATCH path = ANY SHORTEST (a)<-[:CITED_BY]-(cited:Source|Artifact)
  (()<-[:FEEDS]-(:Artifact)){0,2000}
  ((made1:Artifact)<-[:PRODUCED]-(run1:PipelineRun)<-[:FEEDS]-(read1:Source|Artifact)
    WHERE NOT EXISTS { (made1)-[:DERIVED_FROM]->()-[:FEEDS]->(run1) }
      OR EXISTS { (made1)-[:DERIVED_FROM]->(read1) }){0,30}
  (()<-[:FEEDS]-(:Artifact)){0,2000}
  ((made2:Artifact)<-[:PRODUCED]-(run2:PipelineRun)<-[:FEEDS]-(read2:Source|Artifact)
    WHERE NOT EXISTS { (made2)-[:DERIVED_FROM]->()-[:FEEDS]->(run2) }
      OR EXISTS { (made2)-[:DERIVED_FROM]->(read2) }){0,30}(v)
RETURN size(run1) + size(run2) AS hops, head(labels(v)) AS kind, v.namespace AS namespace,
  v.name AS name,
  v.runId AS runId,
  v.rowCount AS rowCount, v.complete AS complete
ORDER BY hops, namespace, name, runId
LIMIT $limit
