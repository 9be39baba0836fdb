// Return the fields and types of the given schemas, as JSON.
// access: read
// params: $urns LIST<STRING>
// returns: hash, fields
// example: headwater cypher read/versions/schema_fields --param urns=schema:HASH
UNWIND $urns AS urn
MATCH (s:SchemaVersion {urn: urn})
RETURN s.hash AS hash, s.fields AS fields
