// Link a version to the schema with which it was written, and to no other.
// access: write
// params: $rows LIST<MAP>
// returns: nothing
// example: run by the worker
UNWIND $rows AS row
MATCH (a:Artifact {urn: row.artifact})
MATCH (s:SchemaVersion {urn: row.schema})
CALL (a, s) {
  MATCH (a)-[old:HAS_SCHEMA]->(other:SchemaVersion)
  WHERE other <> s
  DELETE old
}
MERGE (a)-[:HAS_SCHEMA]->(s)
