// How much of what some jobs make now has column lineage: of each output its columns, those of them that are known to
// come from somewhere when this job makes it, and whether anything is told that its rows are filtered, joined or
// sorted by.
// access: read
// params: $urns LIST<STRING>
// returns: process, place, columns, covered, indirect
// example: headwater cypher read/impact/column_coverage --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})-[p:PRODUCED]->(o:Dataset)
WHERE p.current
RETURN urn AS process, o.urn AS place,
  COUNT { (o)-[:HAS_COLUMN]->(c:Column) WHERE c.current } AS columns,
  COUNT { (o)-[:HAS_COLUMN]->(c:Column) WHERE c.current AND EXISTS { (c)<-[:FEEDS {job: urn}]-(:Column) } } AS covered,
  EXISTS { (o)<-[f:FEEDS {job: urn}]-(:Column) WHERE any(way IN f.ways WHERE way STARTS WITH 'INDIRECT') }
    OR EXISTS {
      (o)-[:HAS_COLUMN]->(:Column)<-[f:FEEDS {job: urn}]-(:Column)
      WHERE any(way IN f.ways WHERE way STARTS WITH 'INDIRECT')
    } AS indirect
