// Return the datasets with tags, or with columns that have one, with their columns and the tags of
// each. Dropped and deleted datasets are left out. This is a scan over all datasets for their tags.
// access: read
// params: none
// returns: urn, type, tags, columns
// example: headwater personal-data
MATCH (d:Dataset)
WHERE d.tags IS NOT NULL AND d.droppedAt IS NULL AND d.deletedAt IS NULL
RETURN d.urn AS urn, d.type AS type, d.tags AS tags,
  COLLECT {
    MATCH (d)-[:HAS_COLUMN]->(c:Column)
    WHERE c.current OR c.tags IS NOT NULL OR d.columns IS NULL
    RETURN [c.urn, coalesce(c.tags, [])]
  } AS columns
ORDER BY urn
