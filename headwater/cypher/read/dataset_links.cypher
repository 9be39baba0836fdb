// The jobs that produce and read some datasets, on the map.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 1000
// returns: urn, producers, readers
// example: headwater cypher read/dataset_links --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn,
  COLLECT { MATCH (j:Job)-[:PRODUCED]->(d) RETURN j.urn ORDER BY j.urn LIMIT $limit } AS producers,
  COLLECT { MATCH (d)-[:FEEDS]->(j:Job) RETURN j.urn ORDER BY j.urn LIMIT $limit } AS readers
