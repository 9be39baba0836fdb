// What some jobs read and produce on the map.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 1000
// returns: urn, inputs, outputs
// example: headwater cypher read/job_links --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
RETURN urn,
  COLLECT { MATCH (d:Dataset)-[:FEEDS]->(j) RETURN d.urn ORDER BY d.urn LIMIT $limit } AS inputs,
  COLLECT { MATCH (j)-[:PRODUCED]->(d:Dataset) RETURN d.urn ORDER BY d.urn LIMIT $limit } AS outputs
