// What is upstream of some runs, versions and answers in history, each node once, nearest first, so that a long walk
// needs no question at every hop. Of each: its id, its urn, the ids of what comes right before it and of what it is
// derived from, whether that was told to be all, and what of the age of data hangs on it. DISTINCT over a way of any
// length is planned as a breadth-first search that prunes and that ends with the limit; one row costs a tenth of many.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 20000
// returns: nodes
// example: headwater cypher read/traversal/upstream_history --param urns=answer:worst-carrier-2013
UNWIND $urns AS urn
CALL (urn) {
  MATCH (n:Answer {urn: urn})<-[:FEEDS|PRODUCED|CITED_BY*0..]-(o) RETURN DISTINCT o
  UNION
  MATCH (n:PipelineRun {urn: urn})<-[:FEEDS|PRODUCED|CITED_BY*0..]-(o) RETURN DISTINCT o
  UNION
  MATCH (n:Artifact {urn: urn})<-[:FEEDS|PRODUCED|CITED_BY*0..]-(o) RETURN DISTINCT o
  UNION
  MATCH (n:Source {urn: urn})<-[:FEEDS|PRODUCED|CITED_BY*0..]-(o) RETURN DISTINCT o
}
WITH DISTINCT o LIMIT $limit
RETURN collect([id(o), o.urn, [(o)<-[:FEEDS|PRODUCED|CITED_BY]-(p) | id(p)], [(o)-[:DERIVED_FROM]->(v) | id(v)],
  o.explicit, o.dataset, o.complete, CASE WHEN o:PipelineRun THEN o.startedAt ELSE o.createdAt END]) AS nodes
