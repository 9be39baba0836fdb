// Return the migrations of this database. This is a scan of a label with one node for each
// migration.
// access: read
// params: none
// returns: name, appliedAt
// example: headwater cypher read/state/applied_migrations
MATCH (m:Migration)
RETURN m.name AS name, m.appliedAt AS appliedAt
ORDER BY name
