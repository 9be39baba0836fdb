// Return how much of the current outputs of the given jobs has column lineage. Each output comes
// with its number of columns and the number with a known origin in this job. `indirect` is true if
// a filter, join or sort of its rows was reported.
// access: read
// params: $urns LIST<STRING>
// returns: job, dataset, columns, covered, indirect
// example: headwater cypher read/impact/column_coverage --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})-[p:PRODUCED]->(o:Dataset)
WHERE p.current
RETURN urn AS job, o.urn AS dataset,
  COUNT { (o)-[:HAS_COLUMN]->(c:Column) WHERE c.current } AS columns,
  COUNT { (o)-[:HAS_COLUMN]->(c:Column) WHERE c.current
    AND EXISTS { (c)<-[:FEEDS {job: urn}]-(:Column) } } AS covered,
  EXISTS { (o)<-[f:FEEDS {job: urn}]-(:Column)
    WHERE any(way IN f.transformations WHERE way STARTS WITH 'INDIRECT') }
    OR EXISTS {
      (o)-[:HAS_COLUMN]->(:Column)<-[f:FEEDS {job: urn}]-(:Column)
      WHERE any(way IN f.transformations WHERE way STARTS WITH 'INDIRECT')
    } AS indirect
