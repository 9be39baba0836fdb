// Some datasets, what they feed with nothing known between, their columns with the columns and whole datasets that
// these feed (none without $columns), and the jobs that were ever seen to make them: what an output comes from is told at the output.
// access: read
// params: $urns LIST<STRING>, $columns BOOLEAN = true
// returns: urn, namespace, name, feeds, columns, makers
// example: headwater cypher read/cache/datasets --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, d.namespace AS namespace, d.name AS name,
  COLLECT { MATCH (d)-[e:FEEDS]->(o:Dataset) WHERE e.current RETURN DISTINCT o.urn } AS feeds,
  COLLECT {
    MATCH (d)-[:HAS_COLUMN]->(c:Column) WHERE $columns
    RETURN [c.urn, COLLECT { MATCH (c)-[:FEEDS]->(t:Column|Dataset) RETURN DISTINCT t.urn }]
  } AS columns,
  COLLECT { MATCH (d)<-[:PRODUCED]-(j:Job) RETURN DISTINCT j.urn } AS makers
