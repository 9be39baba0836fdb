// What some jobs read and produce now, on the map.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 1000
// returns: urn, inputs, outputs
// example: headwater cypher read/job_links --param urns=job:spark:flights.clean
UNWIND $urns AS urn
MATCH (j:Job {urn: urn})
RETURN urn,
  COLLECT { MATCH (d:Dataset)-[e:FEEDS]->(j) WHERE e.current RETURN DISTINCT d.urn ORDER BY d.urn LIMIT $limit } AS inputs,
  COLLECT { MATCH (j)-[e:PRODUCED]->(d:Dataset) WHERE e.current RETURN DISTINCT d.urn ORDER BY d.urn LIMIT $limit } AS outputs
