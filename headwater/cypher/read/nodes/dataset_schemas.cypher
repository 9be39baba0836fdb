// Return the schemas observed for the given datasets, the latest first observation first.
// access: read
// params: $urns LIST<STRING>, $limit INTEGER = 1000
// returns: urn, schemas
// example: headwater cypher read/nodes/dataset_schemas --param urns=dataset:file:/raw/planes
UNWIND $urns AS urn
MATCH (d:Dataset {urn: urn})
RETURN urn, COLLECT {
  MATCH (d)-[e:HAS_SCHEMA]->(s:SchemaVersion)
  RETURN {urn: s.urn, hash: s.hash, fields: s.fields, firstSeen: e.firstSeen}
    ORDER BY e.firstSeen DESC, s.urn LIMIT $limit
} AS schemas
