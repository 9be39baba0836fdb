// Return the edges of the lineage graph and the column edges at the given datasets, as stored. The
// worker creates them again under other names. `names` is empty where both ends have the names
// under which they were sent.
// access: read
// params: $urns LIST<STRING>
// returns: type, source, target, properties
// example: run by the worker
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
CALL (d) {
  MATCH (d)-[e:FEEDS|PRODUCED|DERIVED_FROM]-(:Job|Dataset) RETURN e
  UNION
  MATCH (d)<-[e:FEEDS]-(:Column) RETURN e
  UNION
  MATCH (d)-[:HAS_COLUMN]->(:Column)-[e:FEEDS]-(:Column|Dataset) RETURN e
}
WITH DISTINCT e
RETURN type(e) AS type, startNode(e).urn AS source, endNode(e).urn AS target,
  properties(e) AS properties
