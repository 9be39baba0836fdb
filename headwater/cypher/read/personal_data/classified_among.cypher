// Return those of the given datasets that have tags, or columns with one, with their columns and
// the tags of each: read/personal_data/classified for some datasets. Dropped and deleted datasets
// are left out.
// access: read
// params: $urns LIST<STRING>
// returns: urn, type, tags, columns
// example: headwater personal-data
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
WHERE d.tags IS NOT NULL AND d.droppedAt IS NULL AND d.deletedAt IS NULL
RETURN d.urn AS urn, d.type AS type, d.tags AS tags,
  COLLECT {
    MATCH (d)-[:HAS_COLUMN]->(c:Column)
    WHERE c.current OR c.tags IS NOT NULL OR d.columns IS NULL
    RETURN [c.urn, coalesce(c.tags, [])]
  } AS columns
