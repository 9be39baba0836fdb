// Return the ends of the edges at the given datasets as events reported them, where they differ
// from the ends in the graph: edges of the lineage graph and column edges.
// access: read
// params: $urns LIST<STRING>
// returns: dataset, reportedUrns
// example: run by the worker
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
CALL (d) {
  MATCH (d)-[e:FEEDS|PRODUCED|DERIVED_FROM]-(:Job|Dataset) WHERE e.reportedUrns <> '' RETURN e
  UNION
  MATCH (d)<-[e:FEEDS]-(:Column) WHERE e.reportedUrns <> '' RETURN e
  UNION
  MATCH (d)-[:HAS_COLUMN]->(:Column)-[e:FEEDS]-(:Column|Dataset) WHERE e.reportedUrns <> '' RETURN e
}
RETURN DISTINCT urn AS dataset, e.reportedUrns AS reportedUrns
