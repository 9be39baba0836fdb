// Return the columns of the current schema of each of the given datasets, with type and tags.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 1000
// returns: urn, columns
// example: headwater cypher read/policies/columns --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  MATCH (d)-[:HAS_COLUMN]->(c:Column) WHERE c.current
  RETURN {name: c.name, type: coalesce(c.type, ''), tags: coalesce(c.tags, [])}
  ORDER BY c.name LIMIT $limit
} AS columns
