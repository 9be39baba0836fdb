// Return the edges of the lineage graph and the column edges at the given datasets, as stored. The
// worker creates them again under other names. `reportedUrns` of an edge is empty where both ends
// have the names under which they were sent. For an end that is a column, `sourceDataset` and
// `sourceField`, or `targetDataset` and `targetField`, are its dataset and its name there.
// access: read
// params: $urns LIST<STRING>
// returns: type, source, sourceDataset, sourceField, target, targetDataset, targetField, properties
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
WITH DISTINCT e, startNode(e) AS source, endNode(e) AS target
OPTIONAL MATCH (sourceDataset:Dataset)-[:HAS_COLUMN]->(source)
OPTIONAL MATCH (targetDataset:Dataset)-[:HAS_COLUMN]->(target)
RETURN type(e) AS type,
  source.urn AS source, sourceDataset.urn AS sourceDataset,
  CASE WHEN source:Column THEN source.name END AS sourceField,
  target.urn AS target, targetDataset.urn AS targetDataset,
  CASE WHEN target:Column THEN target.name END AS targetField,
  properties(e) AS properties
