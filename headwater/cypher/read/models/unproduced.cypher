// Return those of the given datasets that no job and no other dataset makes now: the sources.
// access: read
// params: $urns LIST<STRING>
// returns: urn
// example: headwater cypher read/models/unproduced --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
WHERE NOT EXISTS { MATCH (:Job)-[p:PRODUCED]->(d) WHERE p.current }
  AND NOT EXISTS { MATCH (:Dataset)-[f:FEEDS]->(d) WHERE f.current }
RETURN urn
