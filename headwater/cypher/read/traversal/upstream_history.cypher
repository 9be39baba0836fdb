// Return the run history upstream of the given runs, versions and answers, each node once, nearest
// first. One statement so replaces a query at every hop. Each node comes with its id, its urn, the
// ids of its predecessors and of the versions that it derives from. It also says whether that
// derivation is complete, and carries the properties that freshness needs. Neo4j plans DISTINCT
// over a path of any length as a pruning breadth-first search that stops at the limit. Returning
// one row costs a tenth of returning many.
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
RETURN collect([id(o), o.urn, [(o)<-[:FEEDS|PRODUCED|CITED_BY]-(p) | id(p)],
  [(o)-[:DERIVED_FROM]->(v) | id(v)],
  o.explicit, o.dataset, o.complete,
    CASE WHEN o:PipelineRun THEN o.startedAt ELSE o.createdAt END]) AS nodes
