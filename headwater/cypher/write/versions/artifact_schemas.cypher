// Link a version to the schema with which it was written, and to no other; to none if `schema` is
// null.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:Artifact {urn: row.artifact})
CALL (a, row) {
  MATCH (a)-[old:HAS_SCHEMA]->(other:SchemaVersion)
  WHERE row.schema IS NULL OR other.urn <> row.schema
  DELETE old
}
WITH a, row
MATCH (s:SchemaVersion {urn: row.schema})
MERGE (a)-[:HAS_SCHEMA]->(s)
