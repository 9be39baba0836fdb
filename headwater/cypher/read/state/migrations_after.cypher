// Return the migrations of this database whose names come after a name. This is a seek in the index
// of names.
// access: read
// params: $name STRING
// returns: name
// example: headwater cypher read/state/migrations_after --param name=migrations/0001
MATCH (m:Migration)
WHERE m.name > $name
RETURN m.name AS name
ORDER BY name
