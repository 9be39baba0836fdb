// Return the given datasets with their direct targets, their columns, and the jobs that ever
// produced them. Column edges are returned with the source column, unless $columns is false. The
// derivation of an output is returned with the output.
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
