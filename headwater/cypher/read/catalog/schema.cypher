// Return the fields and types of a schema, or of the schema of a version, as JSON.
// access: read
// params: $urn STRING
// returns: fields
// example: headwater cypher read/catalog/schema --param urn=schema:HASH
CALL () {
  MATCH (s:SchemaVersion {urn: $urn}) RETURN s
  UNION
  MATCH (:Artifact {urn: $urn})-[:HAS_SCHEMA]->(s:SchemaVersion) RETURN s
}
RETURN s.fields AS fields
