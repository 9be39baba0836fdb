// The migrations this database has had.
// access: read
// params: none
// returns: name, appliedAt
// example: headwater cypher read/applied_migrations
MATCH (m:Migration)
RETURN m.name AS name, m.appliedAt AS appliedAt
ORDER BY name
