// Return those of the given datasets that have at least $columnsMin columns, with what makes one
// certified or deprecated. Dropped and deleted ones are left out.
// access: read
// params: $urns LIST<STRING>, $columnsMin INTEGER = 2
// returns: urn, columns, tags, deprecated
// example: headwater cypher read/governance/dataset_columns_among --param urns=dataset:file:/raw
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
WHERE size(d.columns) >= $columnsMin AND d.droppedAt IS NULL AND d.deletedAt IS NULL
RETURN urn, d.columns AS columns, coalesce(d.tags, []) AS tags,
  d.deprecatedAt IS NOT NULL AS deprecated
