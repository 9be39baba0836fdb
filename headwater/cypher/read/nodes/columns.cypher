// Return the columns of the given datasets and of the datasets that the given jobs currently
// produce. Columns that only a column edge names are included.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 5000
// returns: urn
// example: headwater cypher read/nodes/columns --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
CALL (urn) {
  MATCH (:Dataset {urn: urn})-[:HAS_COLUMN]->(c:Column) RETURN c
  UNION
  MATCH (:Job {urn: urn})-[e:PRODUCED]->(:Dataset)-[:HAS_COLUMN]->(c:Column) WHERE e.current
    RETURN c
}
RETURN DISTINCT c.urn AS urn
ORDER BY urn
LIMIT $limit
